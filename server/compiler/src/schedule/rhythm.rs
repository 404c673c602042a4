//! What repeats: a cron expression on the wall clock, or a fixed distance on the time line.

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use cubeloom_domain::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// How much the wall clock goes back at most when it is set back.
const LONGEST_FOLD: jiff::SignedDuration = jiff::SignedDuration::from_hours(3);
/// The longest text of an expression: the parser's work grows with it.
const LONGEST: usize = 200;

/// What repeats.
#[derive(Clone, Debug)]
pub enum Rhythm {
    /// Times of the day on the wall clock: one that exists twice is meant once.
    Cron(Box<Cron>),
    /// What goes on by the minute or the hour, also through an hour that the wall clock shows twice.
    Steady(Box<Cron>),
    /// Moments at a distance, in microseconds, one of which is `from`.
    Every { step: i64, from: i64 },
}

impl Rhythm {
    /// Reads a cron expression.
    ///
    /// # Errors
    /// Why it is none.
    pub fn cron(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err("it is too long".into());
        }
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let said = |error: croner::errors::CronError| error.to_string().trim_end_matches('.').to_owned();
        let cron = Box::new(parser.parse(text).map_err(said)?);
        Ok(if is_steady(text) { Self::Steady(cron) } else { Self::Cron(cron) })
    }

    /// The first moment after this one.
    pub fn after(&self, zone: &TimeZone, moment: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Cron(cron) => {
                let mut civil = civil(zone, moment)?;
                loop {
                    civil = cron.find_next_occurrence(&civil, false).ok()?;
                    let found = instant(zone, civil)?;
                    // What the wall clock shows a second time was there already.
                    if found > moment {
                        return Some(found);
                    }
                }
            }
            Self::Steady(cron) => {
                let mut from = jiff::Timestamp::from_microsecond(moment.0).ok()?;
                let mut inclusive = false;
                loop {
                    // Until its next change the clock runs evenly.
                    let offset = zone.to_offset(from);
                    let civil = cron.find_next_occurrence(&offset.to_datetime(from), inclusive).ok()?;
                    let found = offset.to_timestamp(civil).ok()?;
                    match zone.following(from).next() {
                        Some(change) if change.timestamp() <= found => from = change.timestamp(),
                        _ => return Some(Timestamp(found.as_microsecond())),
                    }
                    inclusive = true;
                }
            }
            Self::Every { step, from } => {
                let passed = moment.0.checked_sub(*from)?.div_euclid(*step);
                passed.checked_add(1)?.checked_mul(*step)?.checked_add(*from).map(Timestamp)
            }
        }
    }

    /// The last moment that is not after this one.
    pub fn until(&self, zone: &TimeZone, moment: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Cron(cron) => {
                // Where the clock was set back, later times of the wall clock may have been already.
                let mut civil = civil(zone, moment)?.checked_add(LONGEST_FOLD).ok()?;
                loop {
                    civil = cron.find_previous_occurrence(&civil, false).ok()?;
                    let found = instant(zone, civil)?;
                    if found <= moment {
                        return Some(found);
                    }
                }
            }
            Self::Steady(cron) => {
                let mut from = jiff::Timestamp::from_microsecond(moment.0).ok()?;
                let tick = jiff::SignedDuration::from_nanos(1);
                loop {
                    let offset = zone.to_offset(from);
                    let civil = cron.find_previous_occurrence(&offset.to_datetime(from), true).ok()?;
                    let found = offset.to_timestamp(civil).ok()?;
                    match zone.preceding(from.checked_add(tick).ok()?).next() {
                        Some(change) if found < change.timestamp() => {
                            from = change.timestamp().checked_sub(tick).ok()?;
                        }
                        _ => return Some(Timestamp(found.as_microsecond())),
                    }
                }
            }
            Self::Every { step, from } => {
                let passed = moment.0.checked_sub(*from)?.div_euclid(*step);
                passed.checked_mul(*step)?.checked_add(*from).map(Timestamp)
            }
        }
    }
}

/// Whether an expression has a wildcard for the minute or the hour, as in cron of Vixie.
fn is_steady(text: &str) -> bool {
    let text = text.trim();
    text == "@hourly" || text.split_whitespace().take(2).any(|field| field.starts_with('*'))
}

/// What the wall clock shows.
fn civil(zone: &TimeZone, moment: Timestamp) -> Option<DateTime> {
    Some(zone.to_datetime(jiff::Timestamp::from_microsecond(moment.0).ok()?))
}

/// When the wall clock shows this: the first time if it does so twice, and the moment at which it is set forward if it
/// never does.
pub fn instant(zone: &TimeZone, civil: DateTime) -> Option<Timestamp> {
    let ambiguous = zone.to_ambiguous_timestamp(civil);
    let found = match ambiguous.offset() {
        AmbiguousOffset::Gap { before, .. } => {
            let later = before.to_timestamp(civil).ok()?;
            let just_after = later.checked_add(jiff::SignedDuration::from_nanos(1)).ok()?;
            zone.preceding(just_after).next()?.timestamp()
        }
        _ => ambiguous.earlier().ok()?,
    };
    Some(Timestamp(found.as_microsecond()))
}
