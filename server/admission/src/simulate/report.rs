use std::collections::BTreeMap;
use std::time::Duration;

/// How long a project's jobs waited for their first start.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueReport {
    /// Number of jobs that started.
    pub started: usize,
    pub median: Duration,
    /// 90th percentile.
    pub p90: Duration,
    pub longest: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Successful jobs.
    pub succeeded: usize,
    /// Jobs that failed after all attempts.
    pub failed: usize,
    /// Attempts that were preempted and retried.
    pub preempted: usize,
    /// Maximum number of preemptions of one job.
    pub preempted_most: u32,
    /// Reclaimed elastic workers.
    pub workers_given_back: usize,
    /// Number of steps. The invariants are checked at each.
    pub steps: usize,
    /// Share of all GPUs that the jobs would use without failures and preemptions, over the time of arrivals.
    pub offered: f64,
    /// Average share of all GPUs in use.
    pub utilisation: f64,
    pub queues: BTreeMap<String, QueueReport>,
    /// The longest wait of a job for its project's guarantee.
    pub longest_owed: Duration,
    /// Number of jobs that waited for their guarantee.
    pub owed: usize,
    /// How many of these waited while a node was lost.
    pub owed_with_less: usize,
    /// Number of server restarts.
    pub restarts: usize,
    /// Number of estimated starts that have happened.
    pub estimates: usize,
    /// Median error of the estimates.
    pub error_median: Duration,
    /// 90th percentile of the errors.
    pub error_p90: Duration,
    /// Share of the starts that came by the estimated 90th percentile.
    pub within_p90: f64,
}

/// The quantile of sorted values.
pub(super) fn at(sorted: &[Duration], part: f64) -> Duration {
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

pub(super) fn queue(mut waits: Vec<Duration>) -> QueueReport {
    waits.sort_unstable();
    let longest = waits.last().copied().unwrap_or_default();
    QueueReport { started: waits.len(), median: at(&waits, 0.5), p90: at(&waits, 0.9), longest }
}
