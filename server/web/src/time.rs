//! Timestamps in the API: RFC 3339, UTC, with microseconds.

use cubeloom_domain::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::ToSchema;

/// Always six digits, so that texts sort chronologically.
const RFC_3339: DateTimePrinter = DateTimePrinter::new().precision(Some(6));

/// Timestamp, e.g. `2026-03-01T09:30:00.000000Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ToSchema)]
#[schema(value_type = String, format = DateTime)]
pub struct Time(pub Timestamp);

/// An optional timestamp.
pub fn maybe(time: Option<Timestamp>) -> Option<Time> {
    time.map(Time)
}

/// Seconds between two timestamps, if both are known.
pub fn seconds(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<f64> {
    Some(to?.since(from?).as_secs_f64())
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0.0) {
            Ok(time) => f.write_str(&RFC_3339.timestamp_to_string(&time)),
            Err(_) => self.0.fmt(f),
        }
    }
}

impl std::str::FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time: Result<jiff::Timestamp, _> = text.parse();
        time.map(|time| Self(Timestamp(time.as_microsecond())))
            .map_err(|_| format!("`{text}` is not a timestamp such as 2026-03-01T09:30:00Z"))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_with_microseconds_and_read_back() {
        let time = Time(Timestamp(1_772_357_400_000_042));
        assert_eq!(time.to_string(), "2026-03-01T09:30:00.000042Z");
        assert_eq!(time.to_string().parse::<Time>().unwrap(), time);
        assert!("yesterday".parse::<Time>().unwrap_err().contains("2026-03-01"));
    }
}
