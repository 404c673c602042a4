//! The workers of a role beside each other.

use cubeloom_domain::monitoring::CardMeasure;

use super::{Held, Peer, Remedy, Thresholds, mean};

/// Where it may be the node of one worker, and not the program.
pub(super) const NODE: Remedy = Remedy {
    what: "If it is the same node again and again, set the node aside, or let jobs test their nodes before they begin: its GPU may be hot, or its network slow",
    pytorch: None,
    tensorflow: None,
    setting: Some("preflight"),
};

/// One worker and the others of its role, by what they did on average.
#[derive(Clone, Debug)]
pub(super) struct Beside<'a> {
    /// Name.
    pub(super) worker: &'a str,
    /// What it did.
    pub(super) own: f64,
    /// What the others did, in order.
    pub(super) others: Vec<f64>,
}

impl Beside<'_> {
    /// What the others did, the middle one of them.
    pub(super) fn middle(&self) -> f64 {
        self.others.get(self.others.len() / 2).copied().unwrap_or_default()
    }

    /// How far the others are from each other.
    pub(super) fn spread(&self) -> f64 {
        self.others.last().zip(self.others.first()).map_or(0.0, |(most, least)| most - least)
    }
}

/// Each worker of each role that has enough of them, beside the others, by a number of theirs. A role of which the number of
/// one worker is not known is left out: that one may have only begun.
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

/// The mean of a measure while workers are compared.
pub(super) fn measured(held: Held<'_>, measure: CardMeasure, thresholds: &Thresholds) -> Option<f64> {
    Some(mean(&held.settled(measure, thresholds.saturated_for, thresholds)?))
}
