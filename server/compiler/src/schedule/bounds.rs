//! Settings of every kind of schedule: a time zone, a first and a last moment, and exactly one trigger.

use cubeloom_domain::pipeline::Schedule;
use cubeloom_domain::{Code, Problem, Timestamp};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use super::rhythm::instant;

/// The time zone, or none if it is invalid, and the time span of the schedule.
pub(super) struct Bounds {
    pub(super) zone: Option<TimeZone>,
    pub(super) start: Option<Timestamp>,
    pub(super) end: Option<Timestamp>,
}

impl Bounds {
    /// Parses them, and adds all problems.
    pub(super) fn read(schedule: &Schedule, problems: &mut Vec<Problem>) -> Self {
        let zone = zone(schedule.timezone.as_deref(), problems);
        let bound = |text: &Option<String>, which, problems: &mut Vec<Problem>| {
            text.as_deref().and_then(|text| bound(zone.as_ref()?, text, which, problems))
        };
        let start = bound(&schedule.start, Bound::Start, problems);
        let end = bound(&schedule.end, Bound::End, problems);
        if let (Some(start), Some(end)) = (start, end)
            && end < start
        {
            let message = "it ends before it starts: write a later `end`, or an earlier `start`";
            problems.push(Problem::error(Code::InvalidSchedule, "/schedule/end", message));
        }
        Self { zone, start, end }
    }
}

/// A schedule needs exactly one trigger.
pub(super) fn demand_one(schedule: &Schedule, problems: &mut Vec<Problem>) {
    let Schedule { cron, every, after, file, .. } = schedule;
    match [cron.is_some(), every.is_some(), after.is_some(), file.is_some()].iter().filter(|is| **is).count()
    {
        1 => {}
        0 => {
            let message = "write `cron` (\"0 6 * * *\"), `every` (12h), `after` (another pipeline) or `file`";
            problems.push(Problem::error(Code::MissingKey, "/schedule", message));
        }
        _ => {
            let message = "write only one of `cron`, `every`, `after` and `file`";
            problems.push(Problem::error(Code::Conflict, "/schedule", message));
        }
    }
}

fn zone(name: Option<&str>, problems: &mut Vec<Problem>) -> Option<TimeZone> {
    let Some(name) = name else { return Some(TimeZone::UTC) };
    let found = TimeZone::get(name).ok();
    if found.is_none() {
        let message =
            format!("`{name}` is not a time zone; write an IANA name such as Europe/Berlin or Asia/Shanghai");
        problems.push(Problem::error(Code::InvalidSchedule, "/schedule/timezone", message));
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Start,
    End,
}

fn bound(zone: &TimeZone, text: &str, which: Bound, problems: &mut Vec<Problem>) -> Option<Timestamp> {
    let found = moment(zone, text, which == Bound::End);
    if found.is_none() {
        let field = if which == Bound::Start { "start" } else { "end" };
        let message = format!("`{text}` is not a day (2026-01-31) or a moment (2026-01-31T06:00)");
        problems.push(Problem::error(Code::InvalidSchedule, format!("/schedule/{field}"), message));
    }
    found
}

/// The moment of a date, or a date with a time, in a zone. A date is its first moment, or its last one.
pub(super) fn moment(zone: &TimeZone, text: &str, end_of_day: bool) -> Option<Timestamp> {
    // The parser also accepts the date at the start of a longer text.
    if text.len() <= 10 {
        let day: Date = text.parse().ok()?;
        if !end_of_day {
            return instant(zone, day.at(0, 0, 0, 0));
        }
        let next = instant(zone, day.tomorrow().ok()?.at(0, 0, 0, 0))?;
        return Some(Timestamp(next.0 - 1));
    }
    instant(zone, text.parse::<DateTime>().ok()?)
}
