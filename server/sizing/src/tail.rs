//! How far the next of some values may exceed those seen.
//!
//! Peaks of memory are used as logarithms. The next of `n` values is the largest so far with a probability of
//! `1 / (n + 1)`, for any distribution. How far it then exceeds follows from the mean distance of the largest
//! ones (Hill 1975), extrapolated as by Weissman (1978). A few values say little, so the mean of other tasks
//! is mixed in.

/// Statistics of values of one kind, for predicting the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tail {
    /// Total number of items.
    pub(crate) count: usize,
    /// The largest value, or a larger known lower bound.
    pub(crate) largest: f64,
    /// Mean distance of the largest values from the next smaller.
    pub(crate) scale: f64,
    /// Number of distances in that mean.
    weight: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) at: f64,
    /// An OOM kill at this value: how far it would have gone is unknown.
    pub(crate) is_open: bool,
}

/// Weight of the other tasks' scale, as a number of distances.
const PRIOR: f64 = 2.0;
/// Probability of an unforeseen kind of value, such as another version, and the scale by which it exceeds the
/// largest. Chosen on synthetic traces: without it, the smallest probabilities were far too low.
const UNFORESEEN: (f64, f64) = (0.002, 1.0);

impl Tail {
    /// Needs at least one value.
    pub(crate) fn of(values: &mut [f64]) -> Option<Self> {
        values.sort_by(|a, b| b.total_cmp(a));
        let largest = *values.first()?;
        let count = values.len();
        // The largest quarter of the values; of two values, one.
        let top = (count / 4).max(1).min(count - 1);
        let scale = match values.get(top) {
            Some(below) if top > 0 => values[..top].iter().sum::<f64>() / top as f64 - below,
            _ => 0.0,
        };
        Some(Self { count, largest, scale, weight: top as f64 })
    }

    /// Includes lower bounds for the next value, which do not count otherwise.
    pub(crate) fn at_least(self, values: impl Iterator<Item = f64>) -> Self {
        Self { largest: values.fold(self.largest, f64::max), ..self }
    }

    /// The scale, with that of other tasks mixed in.
    pub(crate) fn mixed(&self, others: f64) -> f64 {
        (self.weight * self.scale + PRIOR * others) / (self.weight + PRIOR)
    }

    /// The value that the next one exceeds with a probability of `risk`, if distances are stretched by
    /// `strictness`.
    pub(crate) fn bound(&self, others: f64, risk: f64, strictness: f64) -> f64 {
        let beyond = (1.0 / ((self.count as f64 + 1.0) * risk)).ln().max(0.0);
        self.largest + strictness * self.mixed(others) * beyond
    }
}

/// Probability that the next value exceeds a bound, given at least one value. It is the share of values that
/// do, after adding one that equals the largest, or `at_least` if that is larger. For an open value it is
/// unknown, and decreases with the distance, by the scale.
pub(crate) fn chance_beyond(values: &[Value], at_least: f64, scale: f64, bound: f64) -> f64 {
    let falls = |from: f64, scale: f64| (-(bound - from).max(0.0) / scale.max(1e-3)).exp();
    let beyond = |value: &Value| {
        if value.is_open { falls(value.at, scale) } else { f64::from(value.at > bound) }
    };
    let largest = values.iter().map(|value| value.at).fold(at_least, f64::max);
    let sum = values.iter().map(beyond).sum::<f64>() + falls(largest, scale);
    let foreseen = sum / (values.len() as f64 + 1.0);
    let (chance, wide) = UNFORESEEN;
    foreseen + (1.0 - foreseen) * chance * falls(largest, wide)
}
