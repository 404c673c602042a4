//! How many tasks are in which state, as a bar.

use crate::api::runs::view::TaskCounts;

/// States in the order of the bar: what went well, what goes on, what did not, what is to come.
const ORDER: [&str; 11] = [
    "succeeded",
    "reused",
    "stopped_early",
    "skipped",
    "running",
    "backoff",
    "waiting",
    "failed",
    "upstream_failed",
    "cancelled",
    "pending",
];

/// A bar of 100 units.
#[derive(Debug, PartialEq)]
pub(crate) struct Bar {
    /// How many ended well.
    pub(crate) done: u64,
    /// Total number of items.
    pub(crate) total: u64,
    /// The parts, from left to right.
    pub(crate) parts: Vec<Part>,
}

/// A part of a bar.
#[derive(Debug, PartialEq)]
pub(crate) struct Part {
    /// The state.
    pub(crate) state: &'static str,
    /// Where it begins.
    pub(crate) from: f64,
    /// How wide it is.
    pub(crate) width: f64,
}

impl Bar {
    /// The bar of these counts.
    pub(crate) fn of(counts: &TaskCounts) -> Self {
        let count = |state: &str| counts.states.get(state).copied().unwrap_or(0);
        let unit = 100.0 / counts.total.max(1) as f64;
        let mut from = 0.0;
        let mut parts = Vec::new();
        for state in ORDER {
            let width = count(state) as f64 * unit;
            if width > 0.0 && state != "pending" {
                parts.push(Part { state, from, width });
            }
            from += width;
        }
        Self {
            done: ["succeeded", "reused", "stopped_early", "skipped"].into_iter().map(count).sum(),
            total: counts.total,
            parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_side_by_side() {
        let states = [("failed", 1), ("succeeded", 2), ("pending", 1)];
        let states = states.map(|(state, count)| (state.to_owned(), count)).into();
        let bar = Bar::of(&TaskCounts { total: 4, states });
        let part = |state, from, width| Part { state, from, width };
        assert_eq!(bar.parts, [part("succeeded", 0.0, 50.0), part("failed", 50.0, 25.0)]);
        assert_eq!((bar.done, bar.total), (2, 4));
        assert!(Bar::of(&TaskCounts::default()).parts.is_empty());
    }
}
