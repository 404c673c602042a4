//! Pending reasons, as data.

use std::collections::BTreeMap;

use cubeloom_domain::faulty::{FaultyCard, FaultyCards};
use cubeloom_domain::quota::Amounts;
use cubeloom_domain::waiting::{Explanation, Holder, Shortage, WaitRule};
use cubeloom_domain::{AttemptKey, RunId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::quotas::view::number;
use crate::runs::describe::word;

/// Maximum number of returned holders: a task may have thousands of active instances.
const TOLD: usize = 200;

/// The reader of a pending reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'r> {
    /// Projects that the reader can see. `None` means all.
    pub(crate) seen: Option<&'r [String]>,
    /// The run that the reader is viewing.
    pub(crate) run: &'r RunId,
}

impl Reader<'_> {
    fn sees(&self, project: &str) -> bool {
        self.seen.is_none_or(|seen| seen.iter().any(|one| one == project))
    }
}

/// Pending reason: the rule, the amounts, and the jobs that use the missing resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WhyView {
    /// Rule that keeps it pending: `capacity`, `not_lent`, `limit`, `no_borrowing`, `persons_cap`, `named_limit`,
    /// `apart`, `behind`, `cool_down`, `leaving`, `scattered`, `faulty`, `never_fits`, `task_parallelism` or
    /// `pipeline_parallelism`.
    pub rule: String,
    /// Node pool concerned, as `CLUSTER` or `CLUSTER/NODE_GROUP`.
    pub pool: String,
    /// Queue whose limit or guarantee applies: the project, or a group above it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue: Option<String>,
    /// Concurrency limit that is used up.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<String>,
    /// Insufficient resources.
    pub shortages: Vec<ShortageView>,
    /// Unhealthy GPUs excluded from scheduling. Set when GPUs are insufficient.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub faulty: Option<FaultyCardsView>,
    /// Jobs that use the missing resources, in the projects that you can see. It starts when these and the other
    /// counted jobs end. Empty if that would not help. At most 200 jobs are listed.
    pub holders: Vec<HolderView>,
    /// Number of further blocking jobs in visible projects, beyond those listed in `holders`.
    #[serde(default)]
    #[schema(required)]
    pub more_holders: usize,
    /// Number of blocking jobs in other projects.
    pub hidden_holders: usize,
    /// Number of jobs ahead of it in the same node pool. For `task_parallelism`, instances of its task. For
    /// `pipeline_parallelism`, jobs of its run.
    pub ahead: u32,
    /// Concurrency limit, if the rule is about parallelism.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
    /// Number of them that are active: running or pending.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub active: Option<u32>,
    /// Job that it must not delay, or must not share a node with. Omitted if that job belongs to a project that you
    /// cannot see.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub behind: Option<HeadView>,
}

impl WhyView {
    /// Whether it waits for this resource, or for none in particular.
    pub(crate) fn is_about(&self, resource: &str) -> bool {
        self.shortages.is_empty() || self.shortages.iter().any(|short| short.resource == resource)
    }

    /// Whether a holder is one of several instances, so that its task's name is ambiguous.
    pub(crate) fn is_one_of_many(&self, holder: &HolderView) -> bool {
        holder.instance > 0 || self.rule == word(&WaitRule::TaskParallelism)
    }

    /// Number of visible holders beyond the listed ones.
    pub(crate) fn beyond(&self, named: usize) -> usize {
        self.holders.len().saturating_sub(named) + self.more_holders
    }

    /// View of a reason for this reader.
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

/// Total number of GPUs, and the unhealthy GPUs that are excluded from scheduling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FaultyCardsView {
    /// Total number of GPUs, including the excluded ones.
    pub all: usize,
    /// GPUs excluded from scheduling.
    pub cards: Vec<FaultyCardView>,
}

/// A GPU excluded from scheduling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FaultyCardView {
    /// Index on its node.
    pub index: usize,
    /// UUID.
    pub uuid: String,
    /// XID error that the driver reported for the GPU.
    pub xid: u32,
}

impl From<&FaultyCards> for FaultyCardsView {
    fn from(faulty: &FaultyCards) -> Self {
        let card =
            |card: &FaultyCard| FaultyCardView { index: card.index, uuid: card.uuid.clone(), xid: card.xid };
        Self { all: faulty.all, cards: faulty.cards.iter().map(card).collect() }
    }
}

/// An insufficient resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShortageView {
    /// Name of the resource: `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    pub resource: String,
    /// Requested amount.
    pub asked: f64,
    /// Amount currently available to it.
    pub free: f64,
    /// Allocated amount.
    pub held: f64,
    /// Total amount, or maximum amount that may be allocated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<f64>,
    /// Guaranteed amount of its project.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub guaranteed: Option<f64>,
    /// Amount that its project has allocated beyond its guarantee.
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

/// A job that uses resources that another job needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HolderView {
    /// Project.
    pub project: String,
    /// User that it runs for.
    pub user: String,
    /// Run of the job. Omitted for a task of the requested run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    /// Task.
    pub task: String,
    /// Instance of the task, from 0.
    // A server from before does not say it.
    #[serde(default)]
    #[schema(required)]
    pub instance: u32,
    /// Allocated amounts by resource, in cores, bytes or units.
    pub amounts: BTreeMap<String, f64>,
}

impl HolderView {
    /// View of a holder. `own` is the run being viewed.
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

/// A job that another job must not delay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeadView {
    /// Project.
    pub project: String,
    /// Run of the job. Omitted for a task of the requested run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    /// Task.
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
