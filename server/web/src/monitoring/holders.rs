//! Who holds which card: attempts of ours, by the names of their pods and by what they were bound to.

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

/// The attempts that hold something on a cluster.
pub(super) struct Holders<'h> {
    /// By the name of their object.
    by_object: BTreeMap<String, &'h Holding>,
    /// By the cards of this machine that they were bound to.
    by_card: BTreeMap<&'h str, Vec<&'h Holding>>,
    /// Those whose names the caller may know.
    projects: BTreeSet<String>,
}

impl<'h> Holders<'h> {
    /// As far as `caller` may see.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(super) async fn of(web: &Web, caller: &Caller, holding: &'h [Holding]) -> ApiResult<Self> {
        let projects = visible(web, caller).await?.into_iter().map(|project| project.name).collect();
        Ok(Self::new(holding, projects))
    }

    /// Of whom the names of these projects' tasks are told.
    pub(super) fn new(holding: &'h [Holding], projects: BTreeSet<String>) -> Self {
        let mut by_card: BTreeMap<&str, Vec<&Holding>> = BTreeMap::new();
        for held in holding {
            let Bindings::Local(bound) = &held.attempt.bindings else { continue };
            for card in bound.workers.iter().flat_map(|worker| &worker.gpus) {
                by_card.entry(card).or_default().push(held);
            }
        }
        let by_object = holding.iter().map(|held| (held.attempt.key.object_name(), held)).collect();
        Self { by_object, by_card, projects }
    }

    /// Whether the caller may know of a project.
    pub(super) fn sees(&self, project: &str) -> bool {
        self.projects.contains(project)
    }

    /// The attempt that a pod is of.
    pub(super) fn of_pod(&self, pod: &str) -> Option<&'h Holding> {
        let ends = pod.match_indices('-').map(|(at, _)| at).chain([pod.len()]);
        ends.filter_map(|end| self.by_object.get(&pod[..end]).copied()).next()
    }

    /// The attempts that hold a card, and how many pods hold it that are none of ours.
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

    /// How each card of a node is.
    pub(super) fn states(&self, node: &NodeReading) -> Vec<CardState> {
        let held = |(uuid, card): (&String, &CardReading)| {
            let (found, strangers) = self.of_card(uuid, card);
            !found.is_empty() || strangers > 0
        };
        let held: Vec<bool> = node.cards.iter().map(held).collect();
        let count = held.iter().filter(|held| **held).count();
        let others = |held: bool| count > usize::from(held);
        node.cards.values().zip(&held).map(|(card, held)| CardState::of(card, *held, others(*held))).collect()
    }

    /// Those of a card that the caller may know, and how many more there are.
    pub(super) fn shown(&self, uuid: &str, card: &CardReading) -> (Vec<HolderView>, usize) {
        let (found, strangers) = self.of_card(uuid, card);
        let (seen, hidden): (Vec<_>, Vec<_>) = found.into_iter().partition(|held| self.sees(&held.project));
        (seen.into_iter().map(view).collect(), hidden.len() + strangers)
    }
}

/// An attempt, for those who may know of it.
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
    use cubeloom_domain::accounting::Account;
    use cubeloom_domain::lowered::{LocalBindings, LocalPaths, WorkerBinding};
    use cubeloom_domain::quota::Pool;
    use cubeloom_domain::record::AttemptRecord;
    use cubeloom_domain::resources::Amount;
    use cubeloom_domain::state::AttemptState;
    use cubeloom_domain::usage::UsageSummary;
    use cubeloom_domain::{AttemptKey, RunId, TaskIx, Timestamp};

    use super::*;

    /// An attempt of a task, bound to cards of this machine or to none.
    fn held(project: &str, task: &str, cards: &[&str]) -> Holding {
        let worker = WorkerBinding {
            address: "127.0.0.2".into(),
            port: 1,
            ports: Vec::new(),
            gpus: cards.iter().map(ToString::to_string).collect(),
        };
        let paths = LocalPaths {
            workspace: String::new(),
            run_dir: String::new(),
            attempt_dir: String::new(),
            checkpoint_dir: String::new(),
            code: String::new(),
            template_dir: String::new(),
            bin: String::new(),
            volumes: BTreeMap::new(),
        };
        let local = Bindings::Local(LocalBindings { workers: vec![worker], paths });
        let key = AttemptKey { run: RunId::new(Timestamp(0), 7), task: task.into(), instance: 0, n: 1 };
        let attempt = AttemptRecord {
            key,
            task: TaskIx(0),
            state: AttemptState::Running { started_at: Timestamp(5) },
            created_at: Timestamp(0),
            amount: Amount::default(),
            cards: BTreeMap::new(),
            pool: Pool::of("local"),
            limits: Vec::new(),
            workers: 1,
            earlier: Vec::new(),
            bindings: if cards.is_empty() { Bindings::None } else { local },
            usage: UsageSummary::default(),
            account: Account::default(),
            sizing: None,
            pace: None,
            hang: None,
            preflight: None,
        };
        Holding { project: project.into(), pipeline: "p".into(), user: "ada".into(), attempt }
    }

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
        // Two pods of one attempt are one holder.
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
}
