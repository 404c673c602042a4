//! How much of a disk stays free.

/// The default share of a disk that stays free, and its maximum in bytes.
const SHARE: u64 = 20;
const MAX_KEPT: u64 = 2 << 30;

/// How many bytes of a disk of `size` bytes stay free; `set` is the configured value.
#[must_use]
pub fn kept_free(size: u64, set: Option<u64>) -> u64 {
    set.unwrap_or_else(|| (size / SHARE).min(MAX_KEPT))
}

/// Bytes with one decimal in a readable unit: `12.1 GiB`, `512 B`.
#[must_use]
pub fn shown(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let Some((unit, shift)) = UNITS.into_iter().find(|(_, shift)| bytes >> shift > 0) else {
        return format!("{bytes} B");
    };
    let tenths = (u128::from(bytes) * 10) >> shift;
    let (whole, tenth) = (tenths / 10, tenths % 10);
    if tenth == 0 { format!("{whole} {unit}") } else { format!("{whole}.{tenth} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twentieth_is_kept_and_two_gibibytes_at_most() {
        assert_eq!(kept_free(2_000, None), 100);
        assert_eq!(kept_free(1 << 50, None), 2 << 30);
        assert_eq!(kept_free(1 << 50, Some(7)), 7);
    }

    #[test]
    fn bytes_are_shown_with_one_decimal_that_is_not_rounded_up() {
        let told = [0, 1023, 1024, 1536, 10 << 30, 13_045_000_000, u64::MAX].map(shown);
        assert_eq!(told, ["0 B", "1023 B", "1 KiB", "1.5 KiB", "10 GiB", "12.1 GiB", "16777215.9 TiB"]);
    }
}
