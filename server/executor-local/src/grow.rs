//! Memory growth of running workers: reports workers whose memory is nearly full, and raises the limit of
//! their control group.
//!
//! The engine stores the new size with the attempt before it is applied. So the submission of an adopted job
//! contains it, and it is applied again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::Bytes;
use cubeloom_domain::executor::{Event, NearlyFull};
use cubeloom_domain::failpoint::hit;
use cubeloom_domain::lowered::LocalJob;
use tokio::time::Instant;

use crate::attempt::Attempt;

/// How often to check workers' memory.
pub(crate) const EVERY: Duration = Duration::from_millis(250);
/// How long to wait before reporting a role with unchanged usage again: there may be capacity by then.
const AGAIN: Duration = Duration::from_secs(5);

/// Memory growth of an attempt's workers.
#[derive(Default)]
pub(crate) struct Growing {
    /// Whether to report workers whose memory is nearly full.
    pub(crate) watches: bool,
    /// Whether their limits may differ from the initial ones.
    pub(crate) has_grown: bool,
    /// Last report by role: the limit, and when.
    told: HashMap<String, (Bytes, Instant)>,
}

impl Attempt {
    /// Raises its workers' memory to the amounts in this job.
    pub(crate) fn grow(&mut self, job: &Arc<LocalJob>) {
        if self.is_stopped() {
            return;
        }
        hit("local.grow.before");
        for (rank, of_job) in job.workers.iter().enumerate().take(self.workers.len()) {
            let worker = &mut self.workers[rank];
            worker.memory = worker.memory.max(of_job.memory);
        }
        // New and restarted workers start with it.
        if let Some(wanted) = &mut self.wanted {
            let mut job = LocalJob::clone(job);
            job.workers.truncate(wanted.job.workers.len());
            if job.workers.len() == wanted.job.workers.len() {
                wanted.job = Arc::new(job);
            }
        }
        self.growing.has_grown = true;
        self.gang.live().collect::<Vec<_>>().into_iter().for_each(|rank| self.give_memory(rank));
        hit("local.grow.after");
    }

    /// Sets the memory limit of a running worker. One without a group yet gets it when its program starts.
    pub(crate) fn give_memory(&self, rank: usize) {
        let Some(worker) = self.workers.get(rank).filter(|_| self.growing.has_grown) else { return };
        let Some(cgroup) = self.cgroup(&worker.name).filter(|_| worker.memory.0 > 0) else { return };
        match cgroup.set_memory(worker.memory.0) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(key = %self.key, worker = %worker.name, %error, "the memory of a worker cannot be increased");
            }
            _ => {}
        }
    }

    /// Reports each role whose fullest worker has nearly used up its memory.
    pub(crate) fn look_at_memory(&mut self) {
        if self.is_stopped() {
            return;
        }
        let now = Instant::now();
        let mut full: Vec<NearlyFull> = Vec::new();
        for rank in self.gang.live().filter(|rank| self.began[*rank].is_some()) {
            let (name, limit) = (&self.workers[rank].name, self.workers[rank].memory);
            let Some(used) = self.cgroup(name).and_then(|cgroup| cgroup.memory()).map(Bytes) else {
                continue;
            };
            if !NearlyFull::is(used, limit) {
                continue;
            }
            match full.iter_mut().find(|known| known.role == name.role) {
                Some(known) => known.used = known.used.max(used),
                None => full.push(NearlyFull { role: name.role.clone(), limit, used }),
            }
        }
        for full in full {
            let told = self.growing.told.get(&full.role);
            if told.is_some_and(|(limit, at)| *limit == full.limit && now.duration_since(*at) < AGAIN) {
                continue;
            }
            self.growing.told.insert(full.role.clone(), (full.limit, now));
            self.machine.report(&self.key, Event::NearlyFull(full));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_chosen_from_earlier_peaks_is_not_nearly_used_by_another_such_peak() {
        let peak = 1000 << 20;
        assert!(!NearlyFull::is(Bytes(peak), Bytes(peak + peak / 10)));
        assert!(NearlyFull::is(Bytes(peak + peak / 20), Bytes(peak + peak / 10)));
        assert!(!NearlyFull::is(Bytes(0), Bytes(0)), "without a limit");
    }
}
