//! A gang that waits for one of its workers: that one is always busy, while the others' GPUs are idle.

use cubeloom_domain::monitoring::CardMeasure;

use super::gang::{Beside, NODE, beside, measured};
use super::{Advice, Held, Peer, Remedy, Thresholds, cpu_saturated, percent};

const ALIKE: Remedy = Remedy {
    what: "Give all workers the same amount of data, including long examples",
    pytorch: Some("DistributedSampler(dataset, shuffle=True, drop_last=True)"),
    tensorflow: Some("dataset.shard(num_shards, index)"),
    setting: None,
};
const FIRST: Remedy = Remedy {
    what: "Give the first worker less extra work: write checkpoints and logs at the end of a step, or in another worker",
    pytorch: Some("torch.distributed.checkpoint.async_save(…)"),
    tensorflow: None,
    setting: None,
};
const REMEDIES: &[Remedy] = &[ALIKE, FIRST, NODE];
/// If the straggler's cores are the bottleneck. The first one applies if right-sizing has reduced its CPU.
const REMEDIES_CORES: &[Remedy] = &[cpu_saturated::AS_ASKED, ALIKE, FIRST, cpu_saturated::LOAD, NODE];

/// The straggler, with its evidence.
#[derive(Clone, Debug)]
pub(super) enum Late<'a> {
    /// Its GPU is busy, the others' are not.
    ByUse(Beside<'a>),
    /// Its cores are busy, the others' are not, and no GPU is used much.
    ByCores(Beside<'a>),
}

impl Late<'_> {
    /// Whether it is the straggler with this name, by its cores.
    pub(super) fn is(&self, worker: &str) -> bool {
        matches!(self, Self::ByCores(one) if one.worker == worker)
    }
}

pub(super) fn find<'a>(peers: &[Peer<'a>], thresholds: &Thresholds) -> Option<Late<'a>> {
    let is_ahead =
        |one: &Beside<'a>| one.others.last().is_some_and(|most| one.own - most >= thresholds.far_use);
    let usage = |held: Held<'a>| measured(held, CardMeasure::Usage, thresholds);
    let share = |held: Held<'a>| {
        held.low_use(thresholds)?;
        let cores = held.cores.filter(|cores| *cores > 0.0)?;
        Some(measured(held, CardMeasure::HolderCpu, thresholds)? / cores)
    };
    let by_use = beside(peers, thresholds, usage)
        .into_iter()
        .find(|one| one.middle() < thresholds.low_below && is_ahead(one));
    by_use.map(Late::ByUse).or_else(|| {
        let mut by_cores = beside(peers, thresholds, share).into_iter();
        by_cores.find(|one| one.own >= thresholds.saturated_above && is_ahead(one)).map(Late::ByCores)
    })
}

pub(super) fn look(peers: &[Peer<'_>], thresholds: &Thresholds) -> Option<(Advice, String)> {
    let minutes = thresholds.saturated_for / 60.0;
    let is_cut = |name: &str| peers.iter().any(|peer| peer.worker == name && peer.held.cut_from().is_some());
    let (worker, remedies, evidence) = match find(peers, thresholds)? {
        Late::ByUse(one) => (
            one.worker,
            REMEDIES,
            format!(
                "in the last {minutes:.0} minutes the GPU of `{}` was used {}, those of its peers {}: they wait for it",
                one.worker,
                percent(one.own),
                percent(one.middle())
            ),
        ),
        Late::ByCores(one) => (
            one.worker,
            if is_cut(one.worker) { REMEDIES_CORES } else { &REMEDIES_CORES[1..] },
            format!(
                "in the last {minutes:.0} minutes `{}` used {} of its CPUs, its peers {}, and none used its GPU much: they wait for it",
                one.worker,
                percent(one.own),
                percent(one.middle())
            ),
        ),
    };
    Some((Advice { rule: "straggler", evidence, remedies, processes: None }, worker.to_owned()))
}
