//! GPU allocations: finds attempts by the names of their pods and by their bindings.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::monitoring::{CardReading, NodeReading};
use cubeloom_monitoring::CardState;
use cubeloom_store::Holding;

use crate::api::monitoring::view::HolderView;
use crate::auth::{Caller, visible};
use crate::error::ApiResult;
use crate::state::Web;
use crate::time::Time;

/// Attempts with allocations on a cluster.
pub(super) struct Holders<'h> {
    /// By object name.
    by_object: BTreeMap<String, &'h Holding>,
    /// By the GPUs of the local machine in their bindings.
    by_card: BTreeMap<&'h str, Vec<&'h Holding>>,
    /// Projects that the caller can see.
    projects: BTreeSet<String>,
}

impl<'h> Holders<'h> {
    /// Shows the names in projects that `caller` can see.
    pub(super) async fn of(web: &Web, caller: &Caller, holding: &'h [Holding]) -> ApiResult<Self> {
        let projects = visible(web, caller).await?.into_iter().map(|project| project.name).collect();
        Ok(Self::new(holding, projects))
    }

    /// `projects`: those whose task names may be shown.
    pub(super) fn new(holding: &'h [Holding], projects: BTreeSet<String>) -> Self {
        let mut by_card: BTreeMap<&str, Vec<&Holding>> = BTreeMap::new();
        for held in holding {
            let Bindings::Local(bound) = &held.attempt.bindings else { continue };
            // Workers of an attempt can share a GPU, which counts once.
            let cards: BTreeSet<&str> =
                bound.workers.iter().flat_map(|worker| &worker.gpus).map(String::as_str).collect();
            for card in cards {
                by_card.entry(card).or_default().push(held);
            }
        }
        let by_object = holding.iter().map(|held| (held.attempt.key.object_name(), held)).collect();
        Self { by_object, by_card, projects }
    }

    pub(super) fn sees(&self, project: &str) -> bool {
        self.projects.contains(project)
    }

    /// The attempt that a pod belongs to.
    pub(super) fn of_pod(&self, pod: &str) -> Option<&'h Holding> {
        let ends = pod.match_indices('-').map(|(at, _)| at).chain([pod.len()]);
        ends.filter_map(|end| self.by_object.get(&pod[..end]).copied()).next()
    }

    /// Attempts that use a GPU, and the number of foreign pods on it.
    pub(super) fn of_card(&self, uuid: &str, card: &CardReading) -> (Vec<&'h Holding>, usize) {
        let mut found: Vec<&Holding> = self.by_card.get(uuid).cloned().unwrap_or_default();
        let (mut ours, mut strangers) = (BTreeSet::new(), 0);
        for pod in &card.pods {
            match self.of_pod(pod) {
                Some(held) if ours.insert(held.attempt.key.object_name()) => found.push(held),
                Some(_) => {}
                None => strangers += 1,
            }
        }
        (found, strangers)
    }

    /// Attempts that use a GPU, each with its share of the GPU's usage, from 0 to 1. Shares follow the
    /// requested amounts if all are known, and are equal otherwise. The rest belongs to foreign pods.
    pub(super) fn parts(&self, uuid: &str, card: &CardReading) -> Vec<(&'h Holding, f64)> {
        let (found, strangers) = self.of_card(uuid, card);
        let asked: Option<Vec<f64>> = found.iter().map(|held| asked_of(held, uuid)).collect();
        if let Some(asked) = asked.filter(|_| strangers == 0) {
            let all: f64 = asked.iter().sum();
            return found.into_iter().zip(asked).map(|(held, part)| (held, part / all)).collect();
        }
        let each = 1.0 / (found.len() + strangers).max(1) as f64;
        found.into_iter().map(|held| (held, each)).collect()
    }

    /// Whether a GPU is allocated.
    pub(super) fn is_held(&self, uuid: &str, card: &CardReading) -> bool {
        let (found, strangers) = self.of_card(uuid, card);
        !found.is_empty() || strangers > 0
    }

    /// State of each GPU of a node.
    pub(super) fn states(&self, node: &NodeReading) -> Vec<CardState> {
        let held: Vec<bool> = node.cards.iter().map(|(uuid, card)| self.is_held(uuid, card)).collect();
        let count = held.iter().filter(|held| **held).count();
        let others = |held: bool| count > usize::from(held);
        node.cards.values().zip(&held).map(|(card, held)| CardState::of(card, *held, others(*held))).collect()
    }

    /// A GPU's attempts that the caller can see, and the number of other attempts and foreign pods.
    pub(super) fn shown(&self, uuid: &str, card: &CardReading) -> (Vec<HolderView>, usize) {
        let (found, strangers) = self.of_card(uuid, card);
        let (seen, hidden): (Vec<_>, Vec<_>) = found.into_iter().partition(|held| self.sees(&held.project));
        (seen.into_iter().map(view).collect(), hidden.len() + strangers)
    }
}

/// GPUs that an attempt requested on this GPU. `None` if it requested GPU memory, or has several workers
/// outside the local machine: some of them may have no GPU.
fn asked_of(held: &Holding, uuid: &str) -> Option<f64> {
    let attempt = &held.attempt;
    let (here, all) = match &attempt.bindings {
        Bindings::Local(bound) => {
            let here = bound.workers.iter().filter(|worker| worker.gpus.iter().any(|card| card == uuid));
            (here.count(), bound.workers.iter().filter(|worker| !worker.gpus.is_empty()).count())
        }
        _ => (1, attempt.workers as usize),
    };
    let is_known = here > 0 && (all == 1 || matches!(attempt.bindings, Bindings::Local(_)));
    match (attempt.amount.gpus, attempt.account.card_parts) {
        (whole, 0) if whole > 0 && is_known => Some(1.0),
        (0, parts) if parts > 0 && is_known => Some(parts as f64 / 1000.0 * here as f64 / all as f64),
        _ => None,
    }
}

/// View of an attempt, for callers that can see its project.
pub(super) fn view(held: &Holding) -> HolderView {
    let key = &held.attempt.key;
    HolderView {
        run: key.run.to_string(),
        project: held.project.clone(),
        pipeline: held.pipeline.clone(),
        task: key.task.clone(),
        instance: key.instance,
        attempt: key.n,
        user: held.user.clone(),
        since: held.attempt.state.started_at().map(Time),
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;

    use super::super::sample::{gang, held};
    use super::*;

    fn card(pods: &[String]) -> CardReading {
        CardReading { present: true, pods: pods.to_vec(), ..CardReading::default() }
    }

    #[test]
    fn names_are_told_to_members_and_others_are_counted() {
        let holding = [held("own", "train", &[]), held("theirs", "train-2", &[])];
        let holders = Holders::new(&holding, BTreeSet::from(["own".to_owned()]));
        let pods: Vec<String> = holding
            .iter()
            .map(|held| format!("{}-worker-0", held.attempt.key.object_name()))
            .chain(["notebook-0".to_owned()])
            .collect();
        let (shown, others) = holders.shown("GPU-1", &card(&pods));
        assert_eq!(shown.iter().map(|one| one.task.as_str()).collect::<Vec<_>>(), ["train"]);
        assert_eq!((others, shown[0].since), (2, Some(Time(Timestamp(5)))));
        // Two pods of one attempt count as one.
        let object = holding[0].attempt.key.object_name();
        let twice = [format!("{object}-0"), object];
        assert_eq!(holders.of_card("GPU-1", &card(&twice)).0.len(), 1);
        assert!(holders.of_pod("cl-train").is_none() && holders.of_pod("").is_none());
    }

    #[test]
    fn cards_of_this_machine_are_held_by_who_was_bound_to_them() {
        let holding = [held("own", "train", &["GPU-1"])];
        let holders = Holders::new(&holding, BTreeSet::new());
        assert_eq!(holders.shown("GPU-1", &card(&[])).1, 1);
        assert_eq!(holders.shown("GPU-2", &card(&[])).1, 0);
        let cards = [("GPU-1", Some(0.9)), ("GPU-2", Some(0.0))];
        let cards = cards.map(|(uuid, usage)| (uuid.to_owned(), CardReading { usage, ..card(&[]) }));
        let node = NodeReading { cards: BTreeMap::from(cards), ..NodeReading::default() };
        assert_eq!(holders.states(&node), [CardState::Busy, CardState::Fragment]);
    }

    #[test]
    fn a_gang_whose_workers_share_a_card_holds_that_once() {
        let holding = [gang("own", "train", &[&["GPU-1"][..]; 3])];
        let holders = Holders::new(&holding, BTreeSet::new());
        assert_eq!(holders.of_card("GPU-1", &card(&[])).0, [&holding[0]]);
        assert_eq!(holders.shown("GPU-1", &card(&[])).1, 1);
    }

    #[test]
    fn a_card_is_divided_among_those_who_hold_it() {
        let part = |task: &str, workers: usize, parts: u64| {
            let mut held = gang("own", task, &vec![&["GPU-1"][..]; workers]);
            held.attempt.account.card_parts = parts;
            held
        };
        let parts = |holding: &[Holding], pods: &[String]| -> Vec<f64> {
            let holders = Holders::new(holding, BTreeSet::new());
            holders.parts("GPU-1", &card(pods)).into_iter().map(|(_, part)| part).collect()
        };
        // One worker requests a quarter, the other attempt a quarter for each of two: all usage is theirs.
        assert_eq!(parts(&[part("one", 1, 250), part("two", 2, 500)], &[]), [1.0 / 3.0, 2.0 / 3.0]);
        assert_eq!(parts(&[part("one", 1, 250)], &[]), [1.0]);
        // The share is unknown for a GPU memory request and for a foreign pod.
        assert_eq!(parts(&[part("one", 1, 250), part("two", 1, 0)], &[]), [0.5, 0.5]);
        assert_eq!(parts(&[part("one", 1, 250)], &["notebook-0".to_owned()]), [0.5]);
        assert!(parts(&[], &[]).is_empty());
    }
}
