//! How far the next of some values may go beyond those seen.
//!
//! Peaks of memory are looked at as logarithms. That the next of `n` is the largest so far has a chance of one in `n + 1`,
//! whatever they follow; how far it then goes beyond is told by the mean distance of the largest ones, as Hill (1975) has
//! it, and extrapolated as Weissman (1978) does. Few values tell little, so the mean of other tasks is mixed in.

/// What values of one kind say of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tail {
    /// Total number of items.
    pub(crate) count: usize,
    /// The largest, or what is needed at least where that is more.
    pub(crate) largest: f64,
    /// The mean distance of the largest ones from the next smaller.
    pub(crate) scale: f64,
    /// How many distances that is made of.
    weight: f64,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    /// How large it is.
    pub(crate) at: f64,
    /// Memory ran out at that: how far it would have gone is not known.
    pub(crate) is_open: bool,
}

/// How many distances the scale of the other tasks counts for.
const PRIOR: f64 = 2.0;
/// The chance that the next one is of a kind that none before announces, such as another version, and the scale by which such
/// ones go beyond the largest. Chosen on generated traces: without it, the smallest chances were far too small.
const UNFORESEEN: (f64, f64) = (0.002, 1.0);

impl Tail {
    /// Of at least one value.
    pub(crate) fn of(values: &mut [f64]) -> Option<Self> {
        values.sort_by(|a, b| b.total_cmp(a));
        let largest = *values.first()?;
        let count = values.len();
        // A quarter of them are the largest; of two values one is.
        let top = (count / 4).max(1).min(count - 1);
        let scale = match values.get(top) {
            Some(below) if top > 0 => values[..top].iter().sum::<f64>() / top as f64 - below,
            _ => 0.0,
        };
        Some(Self { count, largest, scale, weight: top as f64 })
    }

    /// The next one may be as large as these, of which nothing else counts.
    pub(crate) fn at_least(self, values: impl Iterator<Item = f64>) -> Self {
        Self { largest: values.fold(self.largest, f64::max), ..self }
    }

    /// The scale, with that of other tasks mixed in.
    pub(crate) fn mixed(&self, others: f64) -> f64 {
        (self.weight * self.scale + PRIOR * others) / (self.weight + PRIOR)
    }

    /// What the next one goes beyond with a chance of `risk`, where distances are `strictness` times what they seem.
    pub(crate) fn bound(&self, others: f64, risk: f64, strictness: f64) -> f64 {
        let beyond = (1.0 / ((self.count as f64 + 1.0) * risk)).ln().max(0.0);
        self.largest + strictness * self.mixed(others) * beyond
    }
}

/// The chance that the next one goes beyond a bound, by at least one value: the share of those that do, were there one more, which
/// is as large as the largest, or `at_least`, or larger. Of an open one it is not known, and falls with the distance, by the scale.
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
