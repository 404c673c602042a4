//! Comparison of the workers of a role.

use cubeloom_domain::monitoring::CardMeasure;

use super::{Held, Peer, Remedy, Thresholds, mean};

/// For cases where a worker's node may be the cause, and not the program.
pub(super) const NODE: Remedy = Remedy {
    what: "If it is always the same node, cordon it, or enable pre-flight tests: its GPU may be hot, or its network slow",
    pytorch: None,
    tensorflow: None,
    setting: Some("preflight"),
};

/// A worker and the others of its role, by their average values.
#[derive(Clone, Debug)]
pub(super) struct Beside<'a> {
    pub(super) worker: &'a str,
    /// Its value.
    pub(super) own: f64,
    /// The others' values, sorted.
    pub(super) others: Vec<f64>,
}

impl Beside<'_> {
    /// Median of the others.
    pub(super) fn middle(&self) -> f64 {
        self.others.get(self.others.len() / 2).copied().unwrap_or_default()
    }

    /// Range of the others.
    pub(super) fn spread(&self) -> f64 {
        self.others.last().zip(self.others.first()).map_or(0.0, |(most, least)| most - least)
    }
}

/// Each worker of each sufficiently large role, compared with the others by a value. A role with a missing
/// value is skipped, because that worker may have just started.
pub(super) fn beside<'a>(
    peers: &[Peer<'a>],
    thresholds: &Thresholds,
    number: impl Fn(Held<'a>) -> Option<f64>,
) -> Vec<Beside<'a>> {
    let roles = peers.chunk_by(|one, next| one.role == next.role);
    let compared = roles.filter(|role| role.len() >= thresholds.peers).filter_map(|role| {
        let numbers: Vec<f64> = role.iter().map(|peer| number(peer.held)).collect::<Option<_>>()?;
        let one = |at: usize| {
            let mut others = numbers.clone();
            let own = others.remove(at);
            others.sort_by(f64::total_cmp);
            Beside { worker: role[at].worker, own, others }
        };
        Some((0..role.len()).map(one).collect::<Vec<_>>())
    });
    compared.flatten().collect()
}

/// Mean of a metric over the comparison window.
pub(super) fn measured(held: Held<'_>, measure: CardMeasure, thresholds: &Thresholds) -> Option<f64> {
    Some(mean(&held.settled(measure, thresholds.saturated_for, thresholds)?))
}
