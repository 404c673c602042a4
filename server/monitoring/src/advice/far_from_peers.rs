//! A worker that behaves differently from the others of its role, which are alike.

use cubeloom_domain::monitoring::CardMeasure;

use super::gang::{Beside, NODE, beside, measured};
use super::{Advice, Peer, Remedy, Thresholds, percent, straggler};

const REMEDIES: &[Remedy] = &[
    Remedy {
        what: "Check in its log whether it has joined the others, and has its own data",
        pytorch: Some("torch.distributed.get_rank(), DistributedSampler(…)"),
        tensorflow: Some("tf.distribute.get_replica_context().replica_id_in_sync_group"),
        setting: None,
    },
    Remedy {
        what: "Check its GPU and its node: a GPU that is hot or limited draws less power, and is slower",
        pytorch: None,
        tensorflow: None,
        setting: None,
    },
    NODE,
];

/// A metric by which workers are compared.
struct By {
    measure: CardMeasure,
    /// Whether differences are relative to the others' values. Otherwise they are absolute shares of use.
    is_relative: bool,
    sentence: fn(minutes: f64, one: &Beside<'_>) -> String,
}

/// Only the first metric that shows a difference is reported.
const MEASURES: [By; 3] = [
    By {
        measure: CardMeasure::Usage,
        is_relative: false,
        sentence: |minutes, one| {
            format!(
                "in the last {minutes:.0} minutes the GPU of `{}` was used {}, those of its peers {}, and the peers are alike",
                one.worker,
                percent(one.own),
                percent(one.middle())
            )
        },
    },
    By {
        measure: CardMeasure::Power,
        is_relative: true,
        sentence: |minutes, one| {
            format!(
                "in the last {minutes:.0} minutes the GPUs of `{}` drew {:.0} W, those of each of its peers {:.0} W, and the peers are alike",
                one.worker,
                one.own,
                one.middle()
            )
        },
    },
    By {
        measure: CardMeasure::HolderCpu,
        is_relative: true,
        sentence: |minutes, one| {
            format!(
                "in the last {minutes:.0} minutes `{}` used {:.1} CPUs, each of its peers {:.1}, and the peers are alike",
                one.worker,
                one.own,
                one.middle()
            )
        },
    },
];

impl By {
    fn is_far(&self, one: &Beside<'_>, thresholds: &Thresholds) -> bool {
        let (middle, away) = (one.middle(), (one.own - one.middle()).abs());
        if !self.is_relative {
            return away >= thresholds.far_use && one.spread() <= thresholds.alike_use;
        }
        let is_much = self.measure != CardMeasure::HolderCpu || away >= thresholds.far_cores;
        is_much && away >= thresholds.far_share * middle && one.spread() <= thresholds.alike_share * middle
    }
}

pub(super) fn look(peers: &[Peer<'_>], thresholds: &Thresholds) -> Option<(Advice, String)> {
    // The straggler is far from the others, too, but is already reported.
    if straggler::find(peers, thresholds).is_some() {
        return None;
    }
    let has_cards = peers.iter().any(|peer| peer.held.history.series.contains_key(&CardMeasure::Usage));
    // CPU usage next to GPU work may differ: the first worker writes logs, for example.
    let told = MEASURES.iter().filter(|by| !has_cards || by.measure != CardMeasure::HolderCpu);
    let far = told.filter_map(|by| {
        let number = |held| measured(held, by.measure, thresholds);
        let compared = beside(peers, thresholds, number);
        Some((by, compared.into_iter().find(|one| by.is_far(one, thresholds))?))
    });
    let (by, one) = far.into_iter().next()?;
    let evidence = (by.sentence)(thresholds.saturated_for / 60.0, &one);
    Some((
        Advice { rule: "far_from_peers", evidence, remedies: REMEDIES, processes: None },
        one.worker.to_owned(),
    ))
}
