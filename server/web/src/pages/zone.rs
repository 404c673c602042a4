//! Times in a time zone, for pages about schedules.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::time::Time;

/// A time zone with its name.
pub(super) struct Zone {
    /// IANA name.
    pub(super) name: String,
    zone: TimeZone,
}

impl Zone {
    /// The zone with this name. UTC if it is unknown.
    pub(super) fn named(name: Option<&str>) -> Self {
        let found = name.and_then(|name| Some((name.to_owned(), TimeZone::get(name).ok()?)));
        let (name, zone) = found.unwrap_or_else(|| ("UTC".into(), TimeZone::UTC));
        Self { name, zone }
    }

    /// A time in this zone.
    pub(super) fn at(&self, time: &Time) -> Zoned {
        Timestamp::from_microsecond(time.0.0).unwrap_or_default().to_zoned(self.zone.clone())
    }

    /// `2026-01-31 06:00`, with seconds unless they are zero.
    pub(super) fn shown(&self, time: &Time) -> String {
        let zoned = self.at(time);
        let form = if zoned.second() == 0 { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d %H:%M:%S" };
        zoned.strftime(form).to_string()
    }

    /// `06:00`.
    pub(super) fn clock(&self, time: &Time) -> String {
        self.at(time).strftime("%H:%M").to_string()
    }

    /// Start of a day.
    pub(super) fn midnight(&self, day: jiff::civil::Date) -> cubeloom_domain::Timestamp {
        let micros = self.zone.to_zoned(day.at(0, 0, 0, 0)).map(|zoned| zoned.timestamp().as_microsecond());
        cubeloom_domain::Timestamp(micros.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_as_the_zone_has_it() {
        let zone = Zone::named(Some("Asia/Shanghai"));
        let time: Time = "2026-01-31T22:05:00Z".parse().unwrap();
        assert_eq!((zone.shown(&time).as_str(), zone.clock(&time).as_str()), ("2026-02-01 06:05", "06:05"));
        let time: Time = "2026-01-31T22:05:07Z".parse().unwrap();
        assert_eq!(Zone::named(Some("Mars/Olympus")).shown(&time), "2026-01-31 22:05:07");
        assert_eq!(Time(zone.midnight(zone.at(&time).date())).to_string(), "2026-01-31T16:00:00.000000Z");
    }
}
