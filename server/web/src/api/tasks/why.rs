//! Why something waits, as data.

use std::collections::BTreeMap;

use cubeloom_domain::faulty::{FaultyCard, FaultyCards};
use cubeloom_domain::quota::Amounts;
use cubeloom_domain::waiting::{Explanation, Holder, Shortage, WaitRule};
use cubeloom_domain::{AttemptKey, RunId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::quotas::view::number;
use crate::runs::describe::word;

/// So many holders are told; a task of a run may have thousands of instances under way.
const TOLD: usize = 200;

/// For whom it is said why something waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'r> {
    /// The projects that they see; `None` for all.
    pub(crate) seen: Option<&'r [String]>,
    /// The run that they look at.
    pub(crate) run: &'r RunId,
}

impl Reader<'_> {
    fn sees(&self, project: &str) -> bool {
        self.seen.is_none_or(|seen| seen.iter().any(|one| one == project))
    }
}

/// Why something waits: the rule, the amounts, and who holds what is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WhyView {
    /// The rule that keeps it: `capacity`, `not_lent`, `limit`, `no_borrowing`, `persons_cap`, `named_limit`, `apart`, `behind`,
    /// `cool_down`, `leaving`, `scattered`, `faulty`, `never_fits`, `task_parallelism` or `pipeline_parallelism`.
    pub rule: String,
    /// The machines that it concerns: `CLUSTER` or `CLUSTER/NODE_GROUP`.
    pub pool: String,
    /// The project, or the group above it, whose limit or guarantee it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue: Option<String>,
    /// The named limit that is used up.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<String>,
    /// Of what there is too little.
    pub shortages: Vec<ShortageView>,
    /// The cards that no job gets as they are faulty, where there is too little of cards.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub faulty: Option<FaultyCardsView>,
    /// Who holds it, of the projects that you see: when these and the others that are counted beside them end, it starts.
    /// Nobody where that would not help. At most 200 of them are told.
    pub holders: Vec<HolderView>,
    /// How many more there are of these.
    #[serde(default)]
    #[schema(required)]
    pub more_holders: usize,
    /// How many jobs of other projects hold it, too.
    pub hidden_holders: usize,
    /// How many are before it: jobs of the same pool; of `task_parallelism` instances of its task, of `pipeline_parallelism`
    /// jobs of its run.
    pub ahead: u32,
    /// How many may go on at once, where parallelism is the rule.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
    /// How many of them are under way: they run, or wait for a place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub active: Option<u32>,
    /// The job that it must not delay, or must not share its node with; absent where that is of a project that you do not
    /// see.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub behind: Option<HeadView>,
}

impl WhyView {
    /// Whether it waits for more of a resource, or for none in particular.
    pub(crate) fn is_about(&self, resource: &str) -> bool {
        self.shortages.is_empty() || self.shortages.iter().any(|short| short.resource == resource)
    }

    /// Whether a holder is one of several instances, so that its task alone does not say which one it is.
    pub(crate) fn is_one_of_many(&self, holder: &HolderView) -> bool {
        holder.instance > 0 || self.rule == word(&WaitRule::TaskParallelism)
    }

    /// How many holders that the reader sees are left, where so many are named.
    pub(crate) fn beyond(&self, named: usize) -> usize {
        self.holders.len().saturating_sub(named) + self.more_holders
    }

    /// What a reader is told of it.
    pub(crate) fn new(why: &Explanation, reader: Reader<'_>) -> Self {
        let (seen, hidden): (Vec<_>, Vec<_>) =
            why.holders.iter().partition(|holder| reader.sees(&holder.project));
        let told = seen.iter().take(TOLD);
        Self {
            rule: word(&why.rule),
            pool: why.pool.to_string(),
            queue: why.queue.as_ref().map(|queue| queue.name().to_owned()),
            limit: why.named.clone(),
            shortages: why.shortages.iter().map(Into::into).collect(),
            faulty: why.faulty.as_ref().map(Into::into),
            holders: told.filter_map(|holder| HolderView::new(holder, reader.run)).collect(),
            more_holders: seen.len().saturating_sub(TOLD),
            hidden_holders: hidden.len(),
            ahead: why.ahead,
            parallelism: why.parallelism,
            active: why.active,
            behind: why.head.as_ref().filter(|head| reader.sees(&head.project)).and_then(|head| {
                let key: AttemptKey = head.key.parse().ok()?;
                Some(HeadView {
                    project: head.project.clone(),
                    run: other_run(&key, reader.run),
                    task: key.task,
                })
            }),
        }
    }
}

/// How many cards there are, and which of them no job gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FaultyCardsView {
    /// How many there are, these among them.
    pub all: usize,
    /// Those that no job gets.
    pub cards: Vec<FaultyCardView>,
}

/// A card that no job gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FaultyCardView {
    /// Its number on its node.
    pub index: usize,
    /// Its UUID.
    pub uuid: String,
    /// The XID error that the driver has reported of it.
    pub xid: u32,
}

impl From<&FaultyCards> for FaultyCardsView {
    fn from(faulty: &FaultyCards) -> Self {
        let card =
            |card: &FaultyCard| FaultyCardView { index: card.index, uuid: card.uuid.clone(), xid: card.xid };
        Self { all: faulty.all, cards: faulty.cards.iter().map(card).collect() }
    }
}

/// One resource of which there is too little.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShortageView {
    /// `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    pub resource: String,
    /// How much is asked for.
    pub asked: f64,
    /// How much it could have now.
    pub free: f64,
    /// How much is held.
    pub held: f64,
    /// How much there is, or may be held.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<f64>,
    /// How much is guaranteed to its project.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub guaranteed: Option<f64>,
    /// How much its project holds beyond what is guaranteed to it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub borrowed: Option<f64>,
}

impl From<&Shortage> for ShortageView {
    fn from(short: &Shortage) -> Self {
        let number = |amount: u64| number(&short.resource, amount);
        Self {
            resource: short.resource.to_string(),
            asked: number(short.asked),
            free: number(short.free),
            held: number(short.held),
            limit: short.limit.map(number),
            guaranteed: short.guaranteed.map(number),
            borrowed: short.borrowed.map(number),
        }
    }
}

/// A job that holds what another needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HolderView {
    /// Its project.
    pub project: String,
    /// Whom it runs for.
    pub user: String,
    /// Its run; absent for a task of the run that is looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    /// Its task.
    pub task: String,
    /// Which of the task's instances it is, from 0.
    // A server from before does not say it.
    #[serde(default)]
    #[schema(required)]
    pub instance: u32,
    /// What it holds, by resource: cores, bytes, pieces.
    pub amounts: BTreeMap<String, f64>,
}

impl HolderView {
    /// A holder; `own` is the run that is looked at.
    fn new(holder: &Holder, own: &RunId) -> Option<Self> {
        let key: AttemptKey = holder.key.parse().ok()?;
        let Amounts(amounts) = &holder.amounts;
        Some(Self {
            project: holder.project.clone(),
            user: holder.person.clone(),
            run: other_run(&key, own),
            task: key.task,
            instance: key.instance,
            amounts: amounts.iter().map(|(kind, amount)| (kind.to_string(), number(kind, *amount))).collect(),
        })
    }
}

/// A job that another must not delay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeadView {
    /// Its project.
    pub project: String,
    /// Its run; absent for a task of the run that is looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    /// Its task.
    pub task: String,
}

fn other_run(key: &AttemptKey, own: &RunId) -> Option<String> {
    (key.run != *own).then(|| key.run.to_string())
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::quota::Pool;

    use super::*;

    #[test]
    fn a_holder_is_read_of_a_server_from_before() {
        let told = r#"{"project":"p","user":"ada","task":"train","amounts":{"cpu":1.0}}"#;
        let holder: HolderView = serde_json::from_str(told).unwrap();
        assert_eq!((holder.task.as_str(), holder.instance), ("train", 0));
    }

    #[test]
    fn of_many_holders_the_first_are_told_and_how_many_there_are() {
        let run: RunId = "01J00000000000000000000000".parse().unwrap();
        let holder = |instance: usize| Holder {
            key: format!("{run}.each.{instance}.1"),
            project: "own".to_owned(),
            person: "ada".to_owned(),
            amounts: Amounts::default(),
        };
        let pool = Pool { cluster: "local".into(), node_group: None };
        let line = Explanation::of_parallelism(WaitRule::TaskParallelism, pool, 300);
        let why = |count: usize| Explanation { holders: (0..count).map(holder).collect(), ..line.clone() };
        let told = |count: usize, seen: Option<&[String]>| {
            let view = WhyView::new(&why(count), Reader { seen, run: &run });
            (view.holders.len(), view.more_holders, view.hidden_holders, view.beyond(8))
        };
        assert_eq!(told(300, None), (TOLD, 100, 0, 292));
        assert_eq!(told(3, None), (3, 0, 0, 0));
        assert_eq!(told(300, Some(&[])), (0, 0, 300, 0));
    }
}
