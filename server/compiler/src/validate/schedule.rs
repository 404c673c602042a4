//! Schedules: that they can be read, and that what they start can start.

use std::collections::BTreeMap;

use cubeloom_domain::pipeline::{Parameter, Schedule};
use cubeloom_domain::{Code, Problem, Timestamp};

use crate::schedule::{Arrivals, Calendar, awaited};

/// The shortest distance between firings.
const SHORTEST: std::time::Duration = std::time::Duration::from_secs(1);

/// Checks a schedule.
pub fn check(schedule: &Schedule, parameters: &BTreeMap<String, Parameter>, problems: &mut Vec<Problem>) {
    let read = match (&schedule.after, &schedule.file) {
        (Some(_), _) => awaited(schedule, "", Timestamp(0)).map(drop),
        (None, Some(_)) => Arrivals::of(schedule).map(drop),
        (None, None) => Calendar::of(schedule).map(drop),
    };
    if let Err(mut wrong) = read {
        problems.append(&mut wrong);
    }
    if schedule.every.is_some_and(|every| !every.0.is_zero() && every.0 < SHORTEST) {
        let message = "write at least 1s: nothing is fired more often than once a second";
        problems.push(Problem::error(Code::InvalidSchedule, "/schedule/every", message));
    }
    // Nobody is there to give a value when it fires.
    for name in parameters.iter().filter(|(_, one)| one.default.is_none()).map(|(name, _)| name) {
        let message = format!(
            "the parameter `{name}` has no default: runs that the schedule starts need one; dates are written \
             \"{{{{ run.date }}}}\""
        );
        problems.push(Problem::warning(Code::InvalidSchedule, "/schedule", message));
    }
}
