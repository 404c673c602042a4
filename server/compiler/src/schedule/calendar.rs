//! The scheduled moments of a schedule.

use cubeloom_domain::pipeline::{CatchUp, Schedule};
use cubeloom_domain::{Code, Problem, Timestamp};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::bounds::{self, Bounds};
use super::rhythm::{Rhythm, instant};

/// A schedule that can compute its moments, which are its logical dates.
#[derive(Clone, Debug)]
pub struct Calendar {
    rhythm: Rhythm,
    zone: TimeZone,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
}

impl Calendar {
    /// Parses a schedule.
    ///
    /// # Errors
    /// All problems, with their fields.
    pub fn of(schedule: &Schedule) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let cron = cron(schedule, &mut problems);
        let Bounds { zone, start, end } = Bounds::read(schedule, &mut problems);
        let rhythm = cron.or_else(|| every(schedule, zone.as_ref()?, start));
        let calendar = match (rhythm, zone) {
            (Some(rhythm), Some(zone)) if problems.is_empty() => Self { rhythm, zone, start, end },
            _ => return Err(problems),
        };
        match calendar.never_fires(schedule) {
            Some(problem) => Err(vec![problem]),
            None => Ok(calendar),
        }
    }

    /// The problem of a schedule without any date. Whether its last one has passed depends on the clock,
    /// which is not available here.
    fn never_fires(&self, schedule: &Schedule) -> Option<Problem> {
        let first = self.start.map_or(Timestamp(0), |start| Timestamp(start.0.saturating_sub(1)));
        let (path, message) = match (self.rhythm.after(&self.zone, first), &schedule.cron) {
            (None, Some(text)) => {
                ("/schedule/cron", format!("`{text}` never starts a run: no date matches it"))
            }
            (Some(next), _) if self.start.is_some() && self.end.is_some_and(|end| next > end) => {
                ("/schedule/end", "it starts no run between `start` and `end`".to_owned())
            }
            _ => return None,
        };
        Some(Problem::error(Code::InvalidSchedule, path, message))
    }

    /// The first scheduled moment after a moment.
    #[must_use]
    pub fn after(&self, moment: Timestamp) -> Option<Timestamp> {
        let before_start = self.start.map(|start| Timestamp(start.0.saturating_sub(1)));
        let from = before_start.map_or(moment, |start| start.max(moment));
        let next = self.rhythm.after(&self.zone, from)?;
        self.end.is_none_or(|end| next <= end).then_some(next)
    }

    /// The last scheduled moment that is not after a moment.
    #[must_use]
    pub fn until(&self, moment: Timestamp) -> Option<Timestamp> {
        let to = self.end.map_or(moment, |end| end.min(moment));
        let last = self.rhythm.until(&self.zone, to)?;
        self.start.is_none_or(|start| last >= start).then_some(last)
    }

    /// The first scheduled moments after a moment.
    #[must_use]
    pub fn next(&self, mut moment: Timestamp, count: usize) -> Vec<Timestamp> {
        let next = || {
            moment = self.after(moment)?;
            Some(moment)
        };
        std::iter::from_fn(next).take(count).collect()
    }

    /// The scheduled moments from `first` to `last`, both inclusive; at most the first `most`.
    #[must_use]
    pub fn between(&self, first: Timestamp, last: Timestamp, most: usize) -> Vec<Timestamp> {
        let mut moment = Timestamp(first.0.saturating_sub(1));
        let next = || {
            moment = self.after(moment).filter(|next| *next <= last)?;
            Some(moment)
        };
        std::iter::from_fn(next).take(most).collect()
    }

    /// Whether this exact moment is a scheduled one.
    #[must_use]
    pub fn fires_at(&self, moment: Timestamp) -> bool {
        self.until(moment) == Some(moment)
    }

    /// The moment up to which everything counts as handled for a schedule set at this moment.
    #[must_use]
    pub fn handled_when_set(&self, catch_up: CatchUp, set_at: Timestamp) -> Timestamp {
        match (catch_up, self.start) {
            (CatchUp::All, Some(start)) => Timestamp(start.0.saturating_sub(1)).min(set_at),
            _ => set_at,
        }
    }

    /// A moment in the schedule's time zone, with its offset from UTC: `2026-01-31T06:00:00+08:00`.
    #[must_use]
    pub fn local(&self, moment: Timestamp) -> String {
        let moment = jiff::Timestamp::from_microsecond(moment.0).unwrap_or_default();
        moment.to_zoned(self.zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// The moment of a date, or a date with a time, in the schedule's time zone.
    #[must_use]
    pub fn moment(&self, text: &str, end_of_day: bool) -> Option<Timestamp> {
        bounds::moment(&self.zone, text, end_of_day)
    }
}

/// The cron expression, if it has one; a schedule here has a cron expression or an interval.
fn cron(schedule: &Schedule, problems: &mut Vec<Problem>) -> Option<Rhythm> {
    bounds::demand_one(schedule, problems);
    let text = schedule.cron.as_deref()?;
    let refuse = |reason: String| {
        let message = format!(
            "`{text}` is not a schedule: {reason}; write five fields (minute, hour, day of month, month, day of week)"
        );
        problems.push(Problem::error(Code::InvalidSchedule, "/schedule/cron", message));
    };
    Rhythm::cron(text).map_err(refuse).ok()
}

fn every(schedule: &Schedule, zone: &TimeZone, start: Option<Timestamp>) -> Option<Rhythm> {
    let from = match start {
        Some(start) => start,
        None => instant(zone, Date::constant(1970, 1, 1).at(0, 0, 0, 0))?,
    };
    // The parser has already refused a zero interval.
    let step = i64::try_from(schedule.every?.0.as_micros()).ok().filter(|step| *step > 0)?;
    Some(Rhythm::Every { step, from: from.0 })
}
