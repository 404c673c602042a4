//! Schedules triggered by files: the dates to check, the paths, and the runs for the files found.

use std::time::Duration;

use cubeloom_domain::pipeline::{Arrival, CatchUp, Schedule};
use cubeloom_domain::schedule::Look;
use cubeloom_domain::{Code, Problem, Timestamp};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span as Distance};

use super::bounds::{self, Bounds};
use super::missed::GRACE;
use super::rhythm::instant;

/// Default interval between checks for a file.
const USUAL: Duration = Duration::from_secs(60);
/// Maximum wait after failed checks; a longer `every` is kept.
const LONGEST: Duration = Duration::from_secs(600);
/// Maximum number of dates to check: older ones have expired.
const MOST: usize = 500;

/// The length of a partition: the unit of the finest part of its date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Year,
    Month,
    Day,
    Hour,
}

/// Files with one instance per hour, day, month or year.
#[derive(Clone, Debug)]
pub struct Arrivals {
    path: String,
    every: Duration,
    step: Step,
    zone: TimeZone,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    catch_up: CatchUp,
}

impl Arrivals {
    /// Parses a schedule that waits for files.
    ///
    /// # Errors
    /// All problems, with their fields.
    pub fn of(schedule: &Schedule) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        bounds::demand_one(schedule, &mut problems);
        let Bounds { zone, start, end } = Bounds::read(schedule, &mut problems);
        let Some(file) = &schedule.file else { return Err(problems) };
        let step = step(file, &mut problems);
        let every = file.every.map_or(USUAL, |every| every.0);
        let catch_up = schedule.catch_up.unwrap_or_default();
        match (zone, step) {
            (Some(zone), Some(step)) if problems.is_empty() => {
                Ok(Self { path: file.path.clone(), every, step, zone, start, end, catch_up })
            }
            _ => Err(problems),
        }
    }

    /// The path of the file of a date.
    #[must_use]
    pub fn path(&self, date: Timestamp) -> String {
        let Ok(at) = jiff::Timestamp::from_microsecond(date.0) else { return self.path.clone() };
        at.to_zoned(self.zone.clone()).strftime(&self.path).to_string()
    }

    /// The dates to check, newest first: those that have begun since it was set, and the one before them,
    /// whose file may still arrive. With a `start` in the past and `catch_up: all` they begin there.
    /// `handled` is the moment up to which everything was handled when it was set or resumed.
    #[must_use]
    pub fn dates(&self, handled: Timestamp, now: Timestamp) -> Vec<Timestamp> {
        let now = self.end.map_or(now, |end| end.min(now));
        let first = match self.start {
            Some(start) if self.makes_up(handled) => start,
            start => {
                let before =
                    self.begins(handled).and_then(|at| self.back(at)).and_then(|at| self.instant(at));
                before.unwrap_or(handled).max(start.unwrap_or(Timestamp(i64::MIN)))
            }
        };
        let mut next = self.begins(now);
        let dates = std::iter::from_fn(|| {
            let at = next?;
            next = self.back(at);
            self.instant(at)
        });
        dates.take_while(|date| *date >= first).take(MOST).collect()
    }

    /// Decides about the dates whose files were found: those that start runs, and those skipped with a reason
    /// code. `look` is the result of the previous check.
    #[must_use]
    pub fn arrived(
        &self,
        look: &Look,
        handled: Timestamp,
        now: Timestamp,
        mut found: Vec<Timestamp>,
    ) -> (Vec<Timestamp>, Vec<(Timestamp, &'static str)>) {
        found.sort_unstable();
        let watched_since = look.looked_at.is_some_and(|at| at >= handled);
        if !watched_since && !self.makes_up(handled) {
            return (Vec::new(), found.into_iter().map(|date| (date, "there_before")).collect());
        }
        let due = look.tried_at.map(|at| at.plus(self.wait(look.failures)).plus(GRACE));
        let nobody_looked = due.is_some_and(|due| now > due);
        let fires = match self.catch_up {
            CatchUp::None if nobody_looked => 0,
            CatchUp::Latest if nobody_looked => 1,
            _ => found.len(),
        };
        let fire = found.split_off(found.len().saturating_sub(fires));
        (fire, found.into_iter().map(|date| (date, "missed")).collect())
    }

    /// The moment up to which everything counts as handled for a schedule set at this moment.
    #[must_use]
    pub fn handled_when_set(&self, set_at: Timestamp) -> Timestamp {
        match (self.catch_up, self.start) {
            (CatchUp::All, Some(start)) => Timestamp(start.0.saturating_sub(1)).min(set_at),
            _ => set_at,
        }
    }

    /// The time of the next check.
    #[must_use]
    pub fn next_look(&self, look: &Look, set_at: Timestamp) -> Timestamp {
        look.tried_at.map_or(set_at, |at| at.plus(self.wait(look.failures)))
    }

    /// The wait after a number of failed checks.
    fn wait(&self, failures: u32) -> Duration {
        self.every.saturating_mul(1 << failures.min(10)).min(LONGEST).max(self.every)
    }

    /// Whether files from before it was set are caught up.
    fn makes_up(&self, handled: Timestamp) -> bool {
        self.catch_up == CatchUp::All && self.start.is_some_and(|start| handled < start)
    }

    /// The start of the period that contains a moment, in the zone's local time.
    fn begins(&self, moment: Timestamp) -> Option<DateTime> {
        let at = self.zone.to_datetime(jiff::Timestamp::from_microsecond(moment.0).ok()?);
        let day = at.date();
        Some(match self.step {
            Step::Hour => day.at(at.hour(), 0, 0, 0),
            Step::Day => day.at(0, 0, 0, 0),
            Step::Month => day.first_of_month().at(0, 0, 0, 0),
            Step::Year => Date::new(day.year(), 1, 1).ok()?.at(0, 0, 0, 0),
        })
    }

    /// The start of the previous period.
    fn back(&self, at: DateTime) -> Option<DateTime> {
        match self.step {
            Step::Hour => at.checked_sub(SignedDuration::from_hours(1)).ok(),
            Step::Day => at.checked_sub(Distance::new().days(1)).ok(),
            Step::Month => at.checked_sub(Distance::new().months(1)).ok(),
            Step::Year => at.checked_sub(Distance::new().years(1)).ok(),
        }
    }

    fn instant(&self, at: DateTime) -> Option<Timestamp> {
        instant(&self.zone, at)
    }
}

/// The partition length that the path implies; adds its problems.
fn step(file: &Arrival, problems: &mut Vec<Problem>) -> Option<Step> {
    let mut wrong = |field: &str, message: String| {
        problems.push(Problem::error(Code::InvalidSchedule, format!("/schedule/file/{field}"), message));
    };
    let path = &file.path;
    let is_url = path.contains("://");
    if is_url && !["hdfs://", "webhdfs://", "swebhdfs://"].iter().any(|scheme| path.starts_with(scheme)) {
        wrong("path", format!("`{path}` is not an HDFS address: use a `volume` for other storage"));
    }
    if is_url && file.volume.is_some() {
        wrong("volume", "an HDFS address is not in a volume: remove `volume`".into());
    }
    if !is_url && (path.starts_with('/') || path.split('/').any(|part| part == ".." || part == ".")) {
        wrong("path", format!("`{path}` is outside the volume: write a path in it"));
    }
    if file.every.is_some_and(|every| !every.0.is_zero() && every.0 < Duration::from_secs(1)) {
        wrong("every", "write at least 1s: files are checked at most once a second".into());
    }
    match finest(path) {
        Ok(step) => Some(step),
        Err(why) => {
            wrong("path", why);
            None
        }
    }
}

/// The finest part of the date in a path. All coarser parts must be in it, too, so that two dates have two
/// paths.
fn finest(path: &str) -> Result<Step, String> {
    let mut found = Vec::new();
    let mut signs = path.chars();
    while let Some(sign) = signs.next() {
        if sign != '%' {
            continue;
        }
        match signs.next() {
            Some('%') => {}
            Some('Y') => found.push(Step::Year),
            Some('m') => found.push(Step::Month),
            Some('d') => found.push(Step::Day),
            Some('H') => found.push(Step::Hour),
            Some('F') => found.extend([Step::Year, Step::Month, Step::Day]),
            other => {
                let sign = other.map(String::from).unwrap_or_default();
                return Err(format!("`%{sign}` is not supported in dates here: write %Y, %m, %d and %H"));
            }
        }
    }
    let finest = found.iter().max().copied();
    let Some(finest) = finest else {
        return Err("it has no date: write one, such as logs/dt=%Y-%m-%d/_SUCCESS".into());
    };
    let all = [(Step::Year, "%Y"), (Step::Month, "%m"), (Step::Day, "%d")];
    match all.iter().find(|(step, _)| *step < finest && !found.contains(step)) {
        Some((_, sign)) => Err(format!("its date needs {sign}: without it, two dates have the same path")),
        None => Ok(finest),
    }
}
