//! What a worker used: a thinned series while it runs, a summary when it has ended.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::quantity::Bytes;

/// One sample of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageSample {
    /// When it was taken.
    pub at: Timestamp,
    /// CPU time used so far, in microseconds.
    pub cpu_us: u64,
    /// Anonymous plus shared memory; page cache excluded.
    pub memory: Bytes,
}

/// What a worker, or all workers of an attempt together, used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageSummary {
    /// CPU time, in microseconds; of an attempt, the sum.
    pub cpu_us: u64,
    /// Peak of anonymous plus shared memory; of an attempt, the largest worker's.
    pub peak_memory: Bytes,
    /// The kernel's own maximum, page cache included, where it keeps one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kernel_peak_memory: Option<Bytes>,
}

impl UsageSummary {
    /// Both together, as for an attempt.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            cpu_us: self.cpu_us.saturating_add(other.cpu_us),
            peak_memory: self.peak_memory.max(other.peak_memory),
            kernel_peak_memory: self.kernel_peak_memory.max(other.kernel_peak_memory),
        }
    }
}
