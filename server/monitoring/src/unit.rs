//! Units of what Prometheus answers.

/// The unit of an answer.
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
    /// Cores of a CPU.
    Cores,
    /// Cards, or the number of an error.
    Number,
}

impl Unit {
    /// Whether that can be one. DCGM has numbers of its own for what a card cannot tell (`9223372036854775794`), and rates
    /// are a little above what there is at times.
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
