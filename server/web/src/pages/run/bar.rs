//! Tasks by state, as a bar.

use crate::api::runs::view::TaskCounts;

/// States in the bar's order: successful, active, unsuccessful, not started.
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
    /// Number of successful items.
    pub(crate) done: u64,
    pub(crate) total: u64,
    /// Parts, from left to right.
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) state: &'static str,
    /// Start of the part.
    pub(crate) from: f64,
    pub(crate) width: f64,
}

impl Bar {
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
