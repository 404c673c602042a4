//! Amounts as people read them on pages; the scripts (`frontend/src/core`) write them in the same way.

/// `0.42s`, `3.1s`, `2m 05s`, `1h 02m`, `3d 04h`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    let whole = seconds as u64;
    match whole {
        0 => format!("{seconds:.2}s"),
        1..60 => format!("{:.1}s", (seconds * 10.0).floor() / 10.0),
        60..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        3600..86_400 => format!("{}h {:02}m", whole / 3600, whole / 60 % 60),
        _ => format!("{}d {:02}h", whole / 86_400, whole / 3600 % 24),
    }
}

/// `512 B`, `1.5 KiB`, `64 MiB`, `2.1 GiB`.
#[must_use]
pub fn bytes(amount: u64) -> String {
    let mut value = amount as f64;
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

/// A number without needless digits: `2`, `0.5`, `0.9731`, `1.2e-7`.
#[must_use]
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        let durations = [0.42, 3.199, 59.96, 125.0, 3720.0, 273_600.0].map(duration);
        assert_eq!(durations, ["0.42s", "3.1s", "59.9s", "2m 05s", "1h 02m", "3d 04h"]);
        let sizes = [512, 1536, 64 << 20, 2_254_857_830].map(bytes);
        assert_eq!(sizes, ["512 B", "1.5 KiB", "64 MiB", "2.1 GiB"]);
        let numbers = [2.0, 0.5, -0.973_14, 0.000_000_12, 0.0, 1e18].map(number);
        assert_eq!(numbers, ["2", "0.5", "-0.9731", "1.200e-7", "0", "1.000e18"]);
    }
}
