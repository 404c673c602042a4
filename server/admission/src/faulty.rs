//! Unhealthy GPUs that no job gets: they exist, and count as taken, but by no job.
//!
//! A job that requests more than the rest stays pending, and nothing is reserved for it: when a GPU recovers
//! is unknown.

use cubeloom_domain::faulty::FaultyCards;
use cubeloom_domain::quota::Resource;
use cubeloom_domain::waiting::{Shortage, WaitRule};

use crate::amounts::{GPUS, TYPES, beyond};
use crate::desk::{Desk, JobId};
use crate::fits::Block;
use crate::job::Known;
use crate::ledger::pools_of;

impl Desk {
    /// Sets the unhealthy GPUs, to report them to jobs that wait for GPUs. They are counted among what others
    /// take of the nodes ([`Desk::set_nodes`]).
    pub fn set_faulty(&mut self, faulty: Option<FaultyCards>) {
        self.faulty = faulty;
    }

    /// A pending job requests a GPU fraction that its cluster could not provide. Fractions are not counted
    /// here. While GPUs are unhealthy, the job does not start before [`Desk::try_again`].
    pub fn put_off(&mut self, job: JobId) {
        self.put_off.insert(job);
    }

    /// Lets jobs that were put off be tried again.
    pub fn try_again(&mut self) {
        self.put_off.clear();
    }

    /// Why a job cannot start while GPUs are unhealthy, even if every other job ends.
    pub(crate) fn faulty_block(&self, job: JobId, known: &Known) -> Option<Block> {
        self.faulty.as_ref()?;
        if self.put_off.contains(&job) {
            return Some(Block::new(WaitRule::Faulty, known.pool).of(GPUS));
        }
        let least = known.least();
        pools_of(known.pool).find_map(|pool| {
            let (capacity, taken) =
                (&self.pools[pool as usize].capacity, self.nodes.others.get(pool as usize)?);
            Some(Block::new(WaitRule::Faulty, pool).of(beyond(&least, taken, capacity)?))
        })
    }

    /// The unhealthy GPUs, for a job that waits for such GPUs.
    pub(crate) fn faulty_for(&self, block: &Block, shortages: &[Shortage]) -> Option<FaultyCards> {
        let waits_for_them = match block.rule {
            WaitRule::Faulty => true,
            WaitRule::Capacity => self.has_faulty_of(block.pool, shortages),
            _ => false,
        };
        self.faulty.clone().filter(|_| waits_for_them)
    }

    /// Whether a scarce GPU is taken by no job: of one of the scarce types, if types are scarce.
    fn has_faulty_of(&self, pool: u32, shortages: &[Shortage]) -> bool {
        let Some(taken) = self.nodes.others.get(pool as usize) else { return false };
        let short = |kind: usize| {
            taken[kind] > 0 && shortages.iter().any(|short| short.resource == self.kinds.resource(kind))
        };
        let is_of_type = |short: &Shortage| matches!(short.resource, Resource::GpusOf(_));
        if shortages.iter().any(is_of_type) {
            self.kinds.indices().filter(|kind| TYPES.contains(kind)).any(short)
        } else {
            short(GPUS)
        }
    }
}
