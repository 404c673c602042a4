//! Units of Prometheus' results.

/// The unit of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// From 0 to 1.
    Ratio,
    /// From 0 to 100.
    Percent,
    /// Degrees Celsius.
    Degrees,
    Watts,
    Bytes,
    BytesASecond,
    /// CPU cores.
    Cores,
    /// GPUs, or an error number.
    Number,
}

impl Unit {
    /// Whether a value is plausible. DCGM has special numbers for unavailable values (`9223372036854775794`),
    /// and rates are sometimes slightly above the maximum.
    pub(crate) fn has(self, value: f64) -> bool {
        let most = match self {
            Self::Ratio => 1.05,
            Self::Percent => 105.0,
            Self::Degrees => 300.0,
            Self::Watts => 1e5,
            Self::Bytes => 1e14,
            Self::BytesASecond => 1e13,
            Self::Cores | Self::Number => 1e6,
        };
        (0.0..=most).contains(&value)
    }
}
