//! Cards that no job gets as they are faulty: they are there, and count as taken by nobody's job.
//!
//! What asks for more than is left waits, and nothing is kept for it: nobody knows when a card is whole again.

use cubeloom_domain::faulty::FaultyCards;
use cubeloom_domain::quota::Resource;
use cubeloom_domain::waiting::{Shortage, WaitRule};

use crate::amounts::{GPUS, TYPES, beyond};
use crate::desk::{Desk, JobId};
use crate::fits::Block;
use crate::job::Known;
use crate::ledger::pools_of;

impl Desk {
    /// Which cards are faulty, to be told to those that wait for cards. They are counted with what others take of the nodes
    /// ([`Desk::set_nodes`]).
    pub fn set_faulty(&mut self, faulty: Option<FaultyCards>) {
        self.faulty = faulty;
    }

    /// A job that waits asks for a part of a card, and its cluster had none: parts are not counted here. As long as cards are faulty
    /// it does not start before [`Desk::try_again`].
    pub fn put_off(&mut self, job: JobId) {
        self.put_off.insert(job);
    }

    /// Those that were put off may find what they ask for now.
    pub fn try_again(&mut self) {
        self.put_off.clear();
    }

    /// Why a job cannot start while cards are faulty, whoever ends.
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

    /// The cards that are faulty, for what waits for cards such as these.
    pub(crate) fn faulty_for(&self, block: &Block, shortages: &[Shortage]) -> Option<FaultyCards> {
        let waits_for_them = match block.rule {
            WaitRule::Faulty => true,
            WaitRule::Capacity => self.has_faulty_of(block.pool, shortages),
            _ => false,
        };
        self.faulty.clone().filter(|_| waits_for_them)
    }

    /// Whether nobody's job has taken cards of which there is too little: where there is too little of types, of one of these.
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
