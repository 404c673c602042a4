//! The figures of a simulated month.

use std::collections::BTreeMap;
use std::time::Duration;

/// How long the jobs of a project waited, until they started first.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueReport {
    /// How many started.
    pub started: usize,
    /// The median.
    pub median: Duration,
    /// Nine of ten waited no longer.
    pub p90: Duration,
    /// The longest.
    pub longest: Duration,
}

/// What became of the month.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Jobs that ended well.
    pub succeeded: usize,
    /// Jobs that failed for good.
    pub failed: usize,
    /// Attempts that had to give back everything, and were tried again.
    pub preempted: usize,
    /// How often one job had to.
    pub preempted_most: u32,
    /// Elastic workers that were given back.
    pub workers_given_back: usize,
    /// Steps, at each of which the invariants were looked at.
    pub steps: usize,
    /// What the jobs would hold if none failed and none were preempted, as a part of all cards over the time of arrivals.
    pub offered: f64,
    /// The part of all cards that was held, on average.
    pub utilisation: f64,
    /// By project.
    pub queues: BTreeMap<String, QueueReport>,
    /// The longest that a job waited for what its project is guaranteed.
    pub longest_owed: Duration,
    /// How often somebody was owed something.
    pub owed: usize,
    /// How often of these while a node was lost.
    pub owed_with_less: usize,
    /// How often the server restarted.
    pub restarts: usize,
    /// How many starts were estimated, and have come.
    pub estimates: usize,
    /// The median of the estimates' errors.
    pub error_median: Duration,
    /// Nine of ten errors are smaller.
    pub error_p90: Duration,
    /// The part of the starts that came by the estimate's P90.
    pub within_p90: f64,
}

/// The value that a part of all do not exceed.
pub(super) fn at(sorted: &[Duration], part: f64) -> Duration {
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// Of waits.
pub(super) fn queue(mut waits: Vec<Duration>) -> QueueReport {
    waits.sort_unstable();
    let longest = waits.last().copied().unwrap_or_default();
    QueueReport { started: waits.len(), median: at(&waits, 0.5), p90: at(&waits, 0.9), longest }
}
