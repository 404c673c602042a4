//! Checks of schedules: that they are valid, and that their runs can start.

use cubeloom_domain::pipeline::{Parameters, Schedule};
use cubeloom_domain::{Code, Problem, Timestamp};

use crate::schedule::{Arrivals, Calendar, awaited};

/// Minimum interval between scheduled runs.
const SHORTEST: std::time::Duration = std::time::Duration::from_secs(1);

pub fn check(schedule: &Schedule, parameters: &Parameters, problems: &mut Vec<Problem>) {
    let read = match (&schedule.after, &schedule.file) {
        (Some(_), _) => awaited(schedule, "", Timestamp(0)).map(drop),
        (None, Some(_)) => Arrivals::of(schedule).map(drop),
        (None, None) => Calendar::of(schedule).map(drop),
    };
    if let Err(mut wrong) = read {
        problems.append(&mut wrong);
    }
    if schedule.every.is_some_and(|every| !every.0.is_zero() && every.0 < SHORTEST) {
        let message = "write at least 1s: runs are scheduled at most once a second";
        problems.push(Problem::error(Code::InvalidSchedule, "/schedule/every", message));
    }
    // A scheduled run has no user to set a value.
    for name in parameters.iter().filter(|(_, one)| one.default.is_none()).map(|(name, _)| name) {
        let message = format!(
            "the parameter `{name}` has no default: runs that the schedule starts need one; dates are written \
             \"{{{{ run.date }}}}\""
        );
        problems.push(Problem::warning(Code::InvalidSchedule, "/schedule", message));
    }
}
