//! Recurrence: a cron expression in local time, or a fixed interval in absolute time.

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use cubeloom_domain::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// Maximum amount by which local time is set back.
const LONGEST_FOLD: jiff::SignedDuration = jiff::SignedDuration::from_hours(3);
/// Maximum length of an expression: the parser's cost grows with it.
const LONGEST: usize = 200;

#[derive(Clone, Debug)]
pub enum Rhythm {
    /// Times of day in local time: a repeated local time counts once.
    Cron(Box<Cron>),
    /// A recurrence by minute or hour, which continues through a repeated local hour.
    Steady(Box<Cron>),
    /// Moments at an interval, in microseconds; `from` is one of them.
    Every { step: i64, from: i64 },
}

impl Rhythm {
    /// Parses a cron expression.
    ///
    /// # Errors
    /// The reason why it is invalid.
    pub fn cron(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err("it is too long".into());
        }
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let cron = Box::new(parser.parse(text).map_err(|_| wrong_field(&parser, text))?);
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
                    // The second occurrence of a local time does not count.
                    if found > moment {
                        return Some(found);
                    }
                }
            }
            Self::Steady(cron) => {
                let mut from = jiff::Timestamp::from_microsecond(moment.0).ok()?;
                let mut inclusive = false;
                loop {
                    // Until its next transition the offset is constant.
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
                // After a clock change backwards, later local times may already have passed.
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

/// Why an expression is invalid: its first field that is also refused beside wildcards.
fn wrong_field(parser: &CronParser, text: &str) -> String {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields[..] else {
        return format!("the number of its fields is {}", fields.len());
    };
    let is_wrong = |alone: String| parser.parse(&alone).is_err();
    if is_wrong(format!("{minute} * * * *")) {
        format!("the minute `{minute}` is not valid")
    } else if is_wrong(format!("* {hour} * * *")) {
        format!("the hour `{hour}` is not valid")
    } else if is_wrong(format!("* * {day} * *")) {
        format!("the day of month `{day}` is not valid")
    } else if is_wrong(format!("* * * {month} *")) {
        format!("the month `{month}` is not valid")
    } else {
        format!("the day of week `{weekday}` is not valid")
    }
}

/// Whether an expression has a wildcard for the minute or the hour, as in Vixie cron.
fn is_steady(text: &str) -> bool {
    let text = text.trim();
    text.eq_ignore_ascii_case("@hourly")
        || text.split_whitespace().take(2).any(|field| field.starts_with('*'))
}

/// Local time in a zone.
fn civil(zone: &TimeZone, moment: Timestamp) -> Option<DateTime> {
    Some(zone.to_datetime(jiff::Timestamp::from_microsecond(moment.0).ok()?))
}

/// The moment of a local time: the first one if it occurs twice, and the moment of the transition if it is
/// skipped.
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
