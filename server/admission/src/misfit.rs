//! The shape of a job that can never start, and the nodes that exist: a sum does not explain why it fits
//! nowhere.

use cubeloom_domain::shape::{Misfit, Shape};
use cubeloom_domain::waiting::WaitRule;

use crate::amounts::{GPUS, RUNS, Vector};
use crate::desk::Desk;
use crate::fits::Block;
use crate::job::Known;

/// Examined first, because they are the scarcest: GPUs of any type, then CPU, then memory.
const SCARCE: [usize; 3] = [GPUS, 0, 1];

impl Desk {
    /// What the workers request and what nodes have, for a resource that explains why the job never fits.
    /// `None` if another rule blocks the job, if it is one worker on one node, or if no single resource is
    /// the reason.
    pub(crate) fn misfit(&self, job: &Known, block: &Block) -> Option<Misfit> {
        if block.rule != WaitRule::NeverFits || block.node.is_some() {
            return None;
        }
        let workers: Vec<(Vector, u32)> = job.shapes(job.min()).collect();
        let nodes: Vec<&Vector> = self.nodes.of_pool(block.pool).collect();
        let all: u32 = workers.iter().map(|(_, count)| count).sum();
        if all == 0 || nodes.is_empty() || (all == 1 && nodes.len() == 1) {
            return None;
        }
        let of_kind = |kind: usize| {
            let asked = Shape::new(workers.iter().map(|(each, count)| (each[kind], u64::from(*count))));
            let has = Shape::new(nodes.iter().map(|node| (node[kind], 1)));
            let room = |each: u64| nodes.iter().map(|node| node[kind] / each).fold(0, u64::saturating_add);
            let fits =
                |(each, count): &(Vector, u32)| each[kind] == 0 || room(each[kind]) >= u64::from(*count);
            let is_reason = asked.sum() > has.sum() || !workers.iter().all(fits);
            is_reason.then(|| Misfit { resource: self.kinds.resource(kind), asked, nodes: has })
        };
        // GPU types come after all other resources.
        self.kinds.indices().filter(|kind| *kind > RUNS).chain(SCARCE).find_map(of_kind)
    }
}
