//! Usage of tasks relative to their requests: all that is known of a task before its first attempt has ended.
//!
//! Users who request three times the need of one task rarely request too little for the next. Each task
//! counts once, with the largest share that an attempt used. The next task is the largest with a probability
//! of `1 / (n + 1)`, as with peaks.

use std::collections::HashMap;

use crate::learner::{ENOUGH, GROWTH};
use crate::tail::{Tail, Value, chance_beyond};
use crate::trace::Status;

/// Accepted share of new tasks that need more than they get.
const RISK: f64 = 0.05;
/// Prior scale of the shares: tasks differ more than the attempts of one.
const SCALE: f64 = 1.0;
/// Margin added to the bound, as a share of it.
const MARGIN: f64 = 0.1;

/// The share of its request that an attempt used. A failed one may not have needed its memory yet.
pub(crate) fn share_used(status: Status, peak: f64, asked: f64) -> Option<f64> {
    match status {
        Status::Failed => None,
        Status::OutOfMemory => Some(GROWTH),
        Status::Succeeded => Some(peak / asked.max(1.0)),
    }
}

/// Logarithm of the largest share by task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares(HashMap<String, f64>);

impl Shares {
    /// Learns the share of its request that a task's attempt used.
    pub(crate) fn learn(&mut self, task: &str, share: f64) {
        let log = share.max(f64::MIN_POSITIVE).ln();
        match self.0.get_mut(task) {
            Some(known) => *known = known.max(log),
            None => {
                self.0.insert(task.to_owned(), log);
            }
        }
    }

    /// The share of its request that a new task gets, and the number of tasks behind it. `None` while these
    /// are too few.
    pub(crate) fn bound(&self) -> Option<(f64, usize)> {
        let tail = self.tail()?;
        Some(((tail.bound(SCALE, RISK, 1.0) + MARGIN).exp(), tail.count))
    }

    /// Probability that a new task needs more than this share of its request.
    pub(crate) fn chance(&self, share: f64) -> Option<f64> {
        let tail = self.tail()?;
        let values: Vec<Value> = self.0.values().map(|at| Value { at: *at, is_open: false }).collect();
        Some(chance_beyond(&values, tail.largest, tail.mixed(SCALE), share.max(f64::MIN_POSITIVE).ln()))
    }

    fn tail(&self) -> Option<Tail> {
        let mut logs: Vec<f64> = self.0.values().copied().collect();
        if logs.len() < ENOUGH { None } else { Tail::of(&mut logs) }
    }
}
