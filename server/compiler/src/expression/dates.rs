//! Date arithmetic for expressions: `{{ run.date | days(-1) | format('%Y/%m/%d') }}`.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, SpanRound, fmt::strtime};
use minijinja::{Error, ErrorKind};

/// A moment as text: a date, or a date with a time.
struct Moment {
    at: DateTime,
    day_only: bool,
    suffix: &'static str,
}

impl Moment {
    fn read(text: &str) -> Result<Self, Error> {
        if let Ok(day) = text.parse::<Date>() {
            // `Date` also parses the date at the start of a longer text.
            if text.len() <= 10 {
                return Ok(Self { at: day.at(0, 0, 0, 0), day_only: true, suffix: "Z" });
            }
        }
        let (civil, suffix) = match text.strip_suffix('Z') {
            Some(civil) => (civil, "Z"),
            None => (text, ""),
        };
        let bad = || wrong(format!("`{text}` is not a date; expected 2026-01-31 or 2026-01-31T08:00:00Z"));
        let at = civil.parse::<DateTime>().map_err(|_| bad())?;
        Ok(Self { at, day_only: false, suffix })
    }

    fn write(&self) -> String {
        if self.day_only { self.at.date().to_string() } else { format!("{}{}", self.at, self.suffix) }
    }

    fn plus(&self, span: Result<Span, jiff::Error>, day_only: bool) -> Result<String, Error> {
        let moved = span.and_then(|span| self.at.checked_add(span));
        let at = moved.map_err(|_| wrong("the date is out of range".into()))?;
        Ok(Self { at, day_only: self.day_only && day_only, suffix: self.suffix }.write())
    }
}

fn wrong(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// Whether a text is a date, or a date with a time.
pub fn is_date(text: &str) -> bool {
    Moment::read(text).is_ok()
}

/// Adds `count` days, which may be negative.
pub fn days(text: &str, count: i64) -> Result<String, Error> {
    Moment::read(text)?.plus(Span::new().try_days(count), true)
}

/// Adds `count` weeks.
pub fn weeks(text: &str, count: i64) -> Result<String, Error> {
    Moment::read(text)?.plus(Span::new().try_weeks(count), true)
}

/// Adds `count` months; clamps to the last day of a shorter month.
pub fn months(text: &str, count: i64) -> Result<String, Error> {
    Moment::read(text)?.plus(Span::new().try_months(count), true)
}

/// Adds `count` hours; a date becomes a date with a time.
pub fn hours(text: &str, count: i64) -> Result<String, Error> {
    Moment::read(text)?.plus(Span::new().try_hours(count), false)
}

/// Adds `count` minutes.
pub fn minutes(text: &str, count: i64) -> Result<String, Error> {
    Moment::read(text)?.plus(Span::new().try_minutes(count), false)
}

/// Local time in a time zone at a UTC moment: a date with a time, without an offset.
pub fn timezone(text: &str, name: &str) -> Result<String, Error> {
    let moment = Moment::read(text)?;
    if moment.day_only {
        return Err(wrong(format!("`{text}` is a date; a time zone needs a time such as run.timestamp")));
    }
    let zone = TimeZone::get(name).map_err(|_| {
        wrong(format!("`{name}` is not a time zone; write an IANA name such as Europe/Berlin"))
    })?;
    let at = moment.at.to_zoned(TimeZone::UTC).map_err(|_| wrong("the date is out of range".into()))?;
    Ok(Moment { at: at.with_time_zone(zone).datetime(), day_only: false, suffix: "" }.write())
}

/// Number of whole days from the first date to the second.
pub fn days_until(text: &str, other: &str) -> Result<i64, Error> {
    let (from, to) = (Moment::read(text)?, Moment::read(other)?);
    let span = to
        .at
        .since(from.at)
        .and_then(|span| span.round(SpanRound::new().largest(jiff::Unit::Day).days_are_24_hours()));
    span.map(|span| i64::from(span.get_days())).map_err(|_| wrong("the dates are out of range".into()))
}

/// Formats a date in the manner of `strftime`.
pub fn format(text: &str, form: &str) -> Result<String, Error> {
    if form.len() > 200 {
        return Err(wrong("the format is longer than 200 characters".into()));
    }
    let moment = Moment::read(text)?;
    strtime::format(form, moment.at)
        .map_err(|error| wrong(format!("the format `{form}` cannot be used: {error}")))
}
