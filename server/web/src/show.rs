//! Amounts as text on pages. The scripts (`frontend/src/core`) format them in the same way.
//!
//! The functions accept references, for templates, and values.

use std::borrow::Borrow;

use crate::texts::{Lang, text, text_with};
use crate::time::Time;

/// `0.4 s`, `12 s`, `3 min 20 s`, `2 h 05 min`, `3 d 04 h`.
#[must_use]
pub fn duration(seconds: impl Borrow<f64>) -> String {
    let seconds = seconds.borrow().max(0.0);
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 9.95 => format!("{seconds:.1} s"),
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
        _ => format!("{} d {:02} h", whole / 86_400, whole / 3600 % 24),
    }
}

/// Time since a moment.
#[must_use]
pub fn since(at: &Time, now: &Time) -> String {
    duration(now.0.since(at.0).as_secs_f64())
}

/// `2026-01-31 06:00 UTC`.
#[must_use]
pub fn minute(at: &Time) -> String {
    let moment = jiff::Timestamp::from_microsecond(at.0.0).unwrap_or_default();
    moment.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Units of relative times, in seconds.
const UNITS: [(i64, &str, &str); 6] = [
    (31_557_600, "common.past-year", "common.coming-year"),
    (2_629_800, "common.past-month", "common.coming-month"),
    (86_400, "common.past-day", "common.coming-day"),
    (3_600, "common.past-hour", "common.coming-hour"),
    (60, "common.past-minute", "common.coming-minute"),
    (1, "common.past-second", "common.coming-second"),
];

/// Below this many seconds, a time is `just now`.
const NOW: i64 = 5;

/// Days are used up to here, in seconds: `in 40 days` is more precise than `in 1 month`.
const DAYS: i64 = 90 * 86_400;

/// Relative time in a language: `just now`, `3 min ago`, `in 40 days`.
#[must_use]
pub fn relative(lang: Lang, at: Time, now: Time) -> String {
    let seconds = (at.0.0 - now.0.0) / 1_000_000;
    let away = seconds.abs();
    if away < NOW {
        return text(lang, "common.just-now").to_owned();
    }
    let fits = |size: i64| away >= size && (size <= 86_400 || away >= DAYS);
    let (size, past, coming) = UNITS.into_iter().find(|(size, ..)| fits(*size)).unwrap_or(UNITS[5]);
    text_with(lang, if seconds < 0 { past } else { coming }, &[("n", away / size)])
}

/// Approximate duration, rounded up: `1 minute`, `45 minutes`, `3 hours`.
#[must_use]
pub fn about(lang: Lang, time: std::time::Duration) -> String {
    let minutes = time.as_secs().div_ceil(60).max(1);
    let (key, n) = match minutes {
        0..120 => ("common.about-minute", minutes),
        120..2880 => ("common.about-hour", minutes.div_ceil(60)),
        _ => ("common.about-day", minutes.div_ceil(1440)),
    };
    text_with(lang, key, &[("n", n)])
}

/// `512 B`, `1.5 KiB`, `64 MiB`, `2.1 GiB`.
#[must_use]
pub fn bytes(amount: impl Borrow<u64>) -> String {
    let amount = *amount.borrow();
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let power = (amount.max(1).ilog2() / 10).min(5);
    let value = amount as f64 / 1024f64.powi(power.cast_signed());
    let digits = usize::from(power > 0 && value < 10.0);
    format!("{value:.digits$} {}", units[power as usize])
}

/// Amount of a quota's resource: bytes for `memory`, cores or counts for others.
#[must_use]
pub fn amount(resource: &str, amount: impl Borrow<f64>) -> String {
    let amount = *amount.borrow();
    if resource == "memory" {
        return bytes(amount as u64);
    }
    let text = format!("{amount:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number without unnecessary digits: `2`, `0.5`, `0.9731`, `1.2e-7`.
#[must_use]
pub fn number(value: impl Borrow<f64>) -> String {
    let value = *value.borrow();
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;

    use super::*;

    #[test]
    fn moments_are_told_in_the_readers_language() {
        let of =
            |lang, seconds: i64| relative(lang, Time(Timestamp(seconds * 1_000_000)), Time(Timestamp(0)));
        let english = [-2, -45, -200, 7200, -86_400, 40 * 86_400, -100 * 86_400, 40_000_000];
        assert_eq!(
            english.map(|seconds| of(Lang::En, seconds)),
            [
                "just now",
                "45 s ago",
                "3 min ago",
                "in 2 h",
                "1 day ago",
                "in 40 days",
                "3 months ago",
                "in 1 year"
            ]
        );
        assert_eq!([-200, 7200].map(|seconds| of(Lang::Zh, seconds)), ["3 分钟前", "2 小时后"]);
    }

    #[test]
    fn amounts_are_short() {
        let durations = [0.42, 12.0, 59.7, 200.0, 7500.0, 273_600.0, -3.0].map(duration);
        assert_eq!(
            durations,
            ["0.4 s", "12 s", "1 min 00 s", "3 min 20 s", "2 h 05 min", "3 d 04 h", "0.0 s"]
        );
        let sizes = [0, 512, 1536, 64 << 20, 3 << 30, 1 << 60].map(bytes);
        assert_eq!(sizes, ["0 B", "512 B", "1.5 KiB", "64 MiB", "3.0 GiB", "1024 PiB"]);
        let numbers = [2.0, 0.5, -0.973_14, 0.000_000_12, 0.0, 1e18].map(number);
        assert_eq!(numbers, ["2", "0.5", "-0.9731", "1.200e-7", "0", "1.000e18"]);
    }
}
