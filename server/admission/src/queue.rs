//! The queue for GPUs, in numbers.

use cubeloom_domain::Timestamp;

use crate::amounts::GPUS;
use crate::desk::Desk;
use crate::job::State;

/// Pending jobs that request whole GPUs, including those of other replicas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingGpus {
    pub jobs: u64,
    /// The GPUs that they request: of elastic jobs, the minimum.
    pub gpus: u64,
    /// Since when one of them has been pending. `None` without one.
    pub since: Option<Timestamp>,
}

impl Desk {
    /// The jobs that are pending for GPUs.
    #[must_use]
    pub fn pending_gpus(&self) -> PendingGpus {
        let mut found = PendingGpus::default();
        for (_, entry) in self.entries() {
            let State::Waiting { since, .. } = &entry.state else { continue };
            let gpus = entry.known.least()[GPUS];
            if gpus > 0 {
                found.jobs += 1;
                found.gpus = found.gpus.saturating_add(gpus);
                found.since = Some(found.since.map_or(*since, |first| first.min(*since)));
            }
        }
        found
    }
}
