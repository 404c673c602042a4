//! Human-readable amounts.

use std::time::Duration;

use cubeloom_domain::{Bytes, Timestamp};

/// `0.42s`, `3.1s`, `2m 05s`, `1h 02m`, `3d 04h`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{:.2}s", time.as_secs_f64()),
        1..60 => format!("{:.1}s", (time.as_secs_f64() * 10.0).floor() / 10.0),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// `512 B`, `1.5 KiB`, `64 MiB`, `2.1 GiB`.
pub fn bytes(amount: Bytes) -> String {
    let mut value = amount.0 as f64;
    let mut units = ["B", "KiB", "MiB", "GiB", "TiB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for larger in units {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    if unit == "B" || value >= 10.0 { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") }
}

/// CPU time in microseconds, as a duration.
pub fn cpu_time(micros: u64) -> String {
    duration(Duration::from_micros(micros))
}

/// A time as `2026-05-04 12:30:00` in UTC.
pub fn moment(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.0)
        .map_or_else(|_| at.to_string(), |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        let of = |millis| duration(Duration::from_millis(millis));
        assert_eq!([of(420), of(3199), of(125_000), of(3_720_000)], ["0.42s", "3.1s", "2m 05s", "1h 02m"]);
        let of = |amount| bytes(Bytes(amount));
        assert_eq!(
            [of(512), of(1536), of(64 << 20), of(2_254_857_830)],
            ["512 B", "1.5 KiB", "64 MiB", "2.1 GiB"]
        );
        assert_eq!(moment(Timestamp(1_777_777_777_000_000)), "2026-05-03 03:09:37");
    }
}
