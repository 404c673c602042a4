//! Cards that no job gets as they are faulty: they are there, and count as taken by nobody's job.
//!
//! What asks for more than is left waits, and nothing is kept for it: nobody knows when a card is whole again.

use cubeloom_domain::faulty::FaultyCards;
use cubeloom_domain::waiting::{Shortage, WaitRule};

use crate::amounts::beyond;
use crate::desk::Desk;
use crate::fits::Block;
use crate::job::Known;
use crate::ledger::pools_of;
use crate::words::is_of_cards;

impl Desk {
    /// Which cards are faulty, to be told to those that wait for cards. They are counted with what others take of the nodes
    /// ([`Desk::set_nodes`]).
    pub fn set_faulty(&mut self, faulty: Option<FaultyCards>) {
        self.faulty = faulty;
    }

    /// Why a job cannot start while cards are faulty, whoever ends.
    pub(crate) fn faulty_block(&self, job: &Known) -> Option<Block> {
        self.faulty.as_ref()?;
        let least = job.least();
        pools_of(job.pool).find_map(|pool| {
            let (capacity, taken) =
                (&self.pools[pool as usize].capacity, self.nodes.others.get(pool as usize)?);
            Some(Block::new(WaitRule::Faulty, pool).of(beyond(&least, taken, capacity)?))
        })
    }

    /// The cards that are faulty, for what waits for cards.
    pub(crate) fn faulty_for(&self, rule: WaitRule, shortages: &[Shortage]) -> Option<FaultyCards> {
        let waits_for_cards =
            matches!(rule, WaitRule::Capacity | WaitRule::Faulty) && shortages.iter().any(is_of_cards);
        self.faulty.clone().filter(|_| waits_for_cards)
    }
}
