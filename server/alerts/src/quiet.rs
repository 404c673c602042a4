//! Quiet hours in a time zone, including daylight saving transitions.

use cubeloom_domain::Timestamp;
use cubeloom_domain::alert::QuietHours;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};

/// Problems of quiet hours: the field, and a sentence.
#[must_use]
pub fn mistakes(quiet: &QuietHours) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for (field, text) in [("from", &quiet.from), ("until", &quiet.until)] {
        if time(text).is_none() {
            found.push((
                field,
                format!("`{text}` is not a time of day: use hours and minutes, such as 22:00"),
            ));
        }
    }
    if quiet.from == quiet.until {
        found.push(("until", "quiet hours must not begin and end at the same time".into()));
    }
    if TimeZone::get(&quiet.zone).is_err() {
        let message = format!("`{}` is not a time zone: use an IANA name, such as Asia/Shanghai", quiet.zone);
        found.push(("zone", message));
    }
    found
}

/// The end of the quiet hours that contain this time. `None` if it is in none.
#[must_use]
pub fn end(quiet: &QuietHours, now: Timestamp) -> Option<Timestamp> {
    let zone = TimeZone::get(&quiet.zone).ok()?;
    let (from, until) = (time(&quiet.from)?, time(&quiet.until)?);
    let here = jiff::Timestamp::from_microsecond(now.0).ok()?.to_zoned(zone);
    let clock = here.time();
    let same_day = from < until;
    let inside = if same_day { from <= clock && clock < until } else { clock >= from || clock < until };
    if !inside {
        return None;
    }
    let tomorrow = !same_day && clock >= from;
    let day = if tomorrow { here.date().checked_add(1.day()).ok()? } else { here.date() };
    // A skipped local time counts as the one after it; a repeated one as its first occurrence.
    let end = day.to_datetime(until).to_zoned(here.time_zone().clone()).ok()?;
    Some(after(&here, &end))
}

/// The end as a timestamp. In a repeated hour, the first of its two occurrences may be past.
fn after(now: &Zoned, end: &Zoned) -> Timestamp {
    let end =
        if end <= now { end.checked_add(1.hour()).unwrap_or_else(|_| end.clone()) } else { end.clone() };
    Timestamp(end.timestamp().as_microsecond())
}

/// `HH:MM`.
fn time(text: &str) -> Option<Time> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |text: &str| {
        let two = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        two.then(|| text.parse::<i8>().ok()).flatten()
    };
    Time::new(number(hours)?, number(minutes)?, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(from: &str, until: &str, zone: &str) -> QuietHours {
        QuietHours { from: from.into(), until: until.into(), zone: zone.into() }
    }

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
    }

    #[test]
    fn a_night_ends_in_the_morning_of_its_zone() {
        let night = quiet("22:00", "07:30", "Asia/Shanghai");
        assert_eq!(end(&night, at("2026-11-24T13:59:59Z")), None);
        for inside in ["2026-11-24T14:00:00Z", "2026-11-24T23:29:59Z"] {
            assert_eq!(end(&night, at(inside)), Some(at("2026-11-24T23:30:00Z")), "{inside}");
        }
        assert_eq!(end(&night, at("2026-11-24T23:30:00Z")), None);
        let noon = quiet("12:00", "13:00", "UTC");
        assert_eq!(end(&noon, at("2026-11-24T12:10:00Z")), Some(at("2026-11-24T13:00:00Z")));
        assert_eq!(end(&noon, at("2026-11-24T23:00:00Z")), None);
    }

    #[test]
    fn a_clock_that_is_put_forward_or_back_ends_them_all_the_same() {
        // In Berlin, the clock goes from 02:00 to 03:00 on 29 March 2026, and from 03:00 back to 02:00 on 25
        // October.
        let early = quiet("23:00", "02:30", "Europe/Berlin");
        assert_eq!(end(&early, at("2026-03-28T23:00:00Z")), Some(at("2026-03-29T01:30:00Z")));
        assert_eq!(end(&early, at("2026-10-24T22:00:00Z")), Some(at("2026-10-25T00:30:00Z")));
        let second = end(&early, at("2026-10-25T01:10:00Z")).unwrap();
        assert!(second > at("2026-10-25T01:10:00Z") && second <= at("2026-10-25T01:30:00Z"));
    }

    #[test]
    fn mistakes_are_all_named() {
        let fields = |quiet| mistakes(&quiet).into_iter().map(|(field, _)| field).collect::<Vec<_>>();
        assert!(fields(quiet("22:00", "07:00", "Europe/Berlin")).is_empty());
        assert_eq!(fields(quiet("24:00", "7:00", "Mars/Base")), ["from", "until", "zone"]);
        assert_eq!(fields(quiet("07:00", "07:00", "UTC")), ["until"]);
        assert_eq!(fields(quiet("+1:00", "0:-1", "UTC")), ["from", "until"]);
    }
}
