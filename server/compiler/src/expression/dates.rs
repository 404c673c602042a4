//! Date arithmetic for expressions: `{{ run.date | days(-1) | format('%Y/%m/%d') }}`.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, SpanRound, fmt::strtime};
use minijinja::{Error, ErrorKind};

/// A moment as text: a day, or a day with a time.
struct Moment {
    at: DateTime,
    day_only: bool,
    suffix: &'static str,
}

impl Moment {
    fn read(text: &str) -> Result<Self, Error> {
        if let Ok(day) = text.parse::<Date>() {
            // `Date` also reads the day out of a longer text.
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

/// Whether a text is a day, or a moment of one.
pub fn is_date(text: &str) -> bool {
    Moment::read(text).is_ok()
}

/// So many days later; earlier when negative.
pub fn days(text: &str, count: i64) -> Result<String, Error> {
    Moment::read(text)?.plus(Span::new().try_days(count), true)
}

/// So many weeks later.
pub fn weeks(text: &str, count: i64) -> Result<String, Error> {
    Moment::read(text)?.plus(Span::new().try_weeks(count), true)
}

/// So many months later, on the last day of a month that is shorter.
pub fn months(text: &str, count: i64) -> Result<String, Error> {
    Moment::read(text)?.plus(Span::new().try_months(count), true)
}

/// So many hours later; a day becomes a day with a time.
pub fn hours(text: &str, count: i64) -> Result<String, Error> {
    Moment::read(text)?.plus(Span::new().try_hours(count), false)
}

/// So many minutes later.
pub fn minutes(text: &str, count: i64) -> Result<String, Error> {
    Moment::read(text)?.plus(Span::new().try_minutes(count), false)
}

/// What the clocks of a time zone show at a moment of UTC: a day with a time, without an offset.
pub fn timezone(text: &str, name: &str) -> Result<String, Error> {
    let moment = Moment::read(text)?;
    if moment.day_only {
        return Err(wrong(format!(
            "`{text}` is a day; a time zone is asked of a moment such as run.timestamp"
        )));
    }
    let zone = TimeZone::get(name).map_err(|_| {
        wrong(format!("`{name}` is not a time zone; write an IANA name such as Europe/Berlin"))
    })?;
    let at = moment.at.to_zoned(TimeZone::UTC).map_err(|_| wrong("the date is out of range".into()))?;
    Ok(Moment { at: at.with_time_zone(zone).datetime(), day_only: false, suffix: "" }.write())
}

/// How many whole days the second date is after the first.
pub fn days_until(text: &str, other: &str) -> Result<i64, Error> {
    let (from, to) = (Moment::read(text)?, Moment::read(other)?);
    let span = to
        .at
        .since(from.at)
        .and_then(|span| span.round(SpanRound::new().largest(jiff::Unit::Day).days_are_24_hours()));
    span.map(|span| i64::from(span.get_days())).map_err(|_| wrong("the dates are out of range".into()))
}

/// A date in another form, as `strftime` writes it.
pub fn format(text: &str, form: &str) -> Result<String, Error> {
    if form.len() > 200 {
        return Err(wrong("the format is longer than 200 characters".into()));
    }
    let moment = Moment::read(text)?;
    strtime::format(form, moment.at)
        .map_err(|error| wrong(format!("the format `{form}` cannot be used: {error}")))
}
