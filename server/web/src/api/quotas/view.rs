//! Quotas as the API takes and shows them. In what is sent, and in what is said of a queue, amounts are as people write
//! them: `{"cpu": "500m", "memory": "64Gi", "gpus": 8}`. What was counted is in cores, bytes and pieces.

use std::collections::BTreeMap;

use cubeloom_domain::quota::held::Job;
use cubeloom_domain::quota::standing::Share;
use cubeloom_domain::quota::{Amounts, Queue, QueueRecord, Quota, Resource};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::ProblemView;
use crate::etag::Tagged;
use crate::time::Time;

/// The tree of quotas, as far as you may see it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QuotasView {
    /// Each cluster and node group: what it has, and what is guaranteed and held of it by everybody together.
    pub pools: Vec<PoolView>,
    /// Groups and projects, each behind the group that it is in. Members see their projects and the groups above these.
    pub queues: Vec<QueueView>,
}

/// A cluster, or a node group of one.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PoolView {
    /// What quotas call it: `CLUSTER` or `CLUSTER/NODE_GROUP`.
    pub pool: String,
    /// The cluster.
    pub cluster: String,
    /// The node group; absent: the whole cluster, for jobs that name no node group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_group: Option<String>,
    /// What there is.
    pub resources: Vec<PoolShareView>,
}

/// A resource of a pool.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PoolShareView {
    /// `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    pub resource: String,
    /// How much there is; absent where that is not known, or without a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<f64>,
    /// What all queues are guaranteed.
    pub guaranteed: f64,
    /// What all jobs hold: of a whole cluster, those in its node groups, too.
    pub held: f64,
}

/// A group or a project.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QueueView {
    /// `group` or `project`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The group that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What was said of it, by pool.
    pub quotas: BTreeMap<String, QuotaBody>,
    /// How it stands, by pool.
    pub shares: BTreeMap<String, Vec<ShareView>>,
    /// Its revision: in quotes it is the ETag. 0 for a project of which nothing was said.
    pub revision: u64,
}

/// How a queue stands with a resource of a pool.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ShareView {
    /// `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    pub resource: String,
    /// What it is guaranteed.
    pub guarantee: f64,
    /// The most that it may hold: its limit, or its guarantee where it may not borrow; absent: no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
    /// What it holds.
    pub held: f64,
    /// What of that is beyond its guarantee.
    pub borrowed: f64,
    /// What of its guarantee others hold.
    pub lent: f64,
}

impl ShareView {
    /// A share.
    pub fn new(resource: &Resource, share: &Share) -> Self {
        let number = |amount: u64| number(resource, amount);
        Self {
            resource: resource.to_string(),
            guarantee: number(share.guarantee),
            most: share.most.map(number),
            held: number(share.held),
            borrowed: number(share.borrowed),
            lent: number(share.lent),
        }
    }
}

/// An amount as a number: cores, bytes, pieces.
pub(crate) fn number(resource: &Resource, amount: u64) -> f64 {
    match resource {
        Resource::Cpu => amount as f64 / 1000.0,
        _ => amount as f64,
    }
}

/// What a queue is to be.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueBody {
    /// The group that it is in; absent: at the top.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent: Option<String>,
    /// What it has of each pool, `CLUSTER` or `CLUSTER/NODE_GROUP`; of others: no guarantee, no limit.
    #[serde(default)]
    pub quotas: BTreeMap<String, QuotaBody>,
    /// Takes a limit below what is held now. Nothing is stopped for it; nothing more of it starts until enough has ended.
    #[serde(skip_serializing_if = "is_false", default)]
    pub below_use: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// What a queue has of a pool. Amounts are by resource: `cpu`, `memory`, `gpus`, `gpus/TYPE`, `pods`, `runs`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QuotaBody {
    /// Its own: what it needs of this it gets, also from those that have borrowed it.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub guarantee: BTreeMap<String, Value>,
    /// All that it may hold, what is borrowed included.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub limit: BTreeMap<String, Value>,
    /// Its share, beside its siblings, of what nobody is guaranteed or uses.
    #[serde(default = "Quota::usual_weight")]
    #[schema(minimum = 1, maximum = 1000)]
    pub weight: u32,
    /// Whether it may hold more than it is guaranteed.
    #[serde(default = "yes")]
    pub borrow: bool,
    /// Whether others may hold what it is guaranteed and does not use.
    #[serde(default = "yes")]
    pub lend: bool,
    /// The most that one person's jobs may hold of it; of a project only.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub per_person: BTreeMap<String, Value>,
    /// The highest priority that tasks of it may name; absent: any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(minimum = -1000, maximum = 1000)]
    pub max_priority: Option<i32>,
}

fn yes() -> bool {
    true
}

/// What is said of a queue, as it would be sent.
pub(crate) fn body_of(record: &QueueRecord) -> QueueBody {
    let quota = |quota: &Quota| QuotaBody {
        guarantee: written(&quota.guarantee),
        limit: written(&quota.limit),
        weight: quota.weight,
        borrow: quota.borrow,
        lend: quota.lend,
        per_person: written(&quota.per_person),
        max_priority: quota.max_priority,
    };
    let quotas = record.quotas.iter().map(|(pool, said)| (pool.to_string(), quota(said)));
    QueueBody { parent: record.parent.clone(), quotas: quotas.collect(), below_use: false }
}

fn written(amounts: &Amounts) -> BTreeMap<String, Value> {
    match serde_json::to_value(amounts) {
        Ok(Value::Object(written)) => written.into_iter().collect(),
        _ => BTreeMap::new(),
    }
}

/// What is said of a queue, with its revision.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SaidView {
    /// The group that it is in; absent: at the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What it has of each pool, as it is written.
    pub quotas: BTreeMap<String, QuotaBody>,
    /// Its revision: in quotes it is the ETag. 0 for a project of which nothing was said.
    pub revision: u64,
}

impl SaidView {
    /// What is said of a queue, with its ETag.
    pub(crate) fn of(record: &QueueRecord) -> Tagged<Self> {
        let QueueBody { parent, quotas, .. } = body_of(record);
        Tagged(record.revision, Self { parent, quotas, revision: record.revision })
    }
}

/// Edits that are tried together.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewBody {
    /// At most 20.
    #[schema(max_items = 20)]
    pub edits: Vec<EditBody>,
}

/// What would become of a queue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditBody {
    /// Of a group or a project.
    pub kind: QueueKind,
    /// Its name.
    pub name: String,
    /// The group that it would be in.
    #[serde(default)]
    pub parent: Option<String>,
    /// What it would have of each pool.
    #[serde(default)]
    pub quotas: BTreeMap<String, QuotaBody>,
    /// It would be taken away.
    #[serde(default)]
    pub delete: bool,
    /// The revision that is changed, 0 where nothing was said yet. A preview does without it.
    #[serde(default)]
    pub revision: Option<u64>,
}

/// Edits that are made together.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangesBody {
    /// From 1 to 20, each of another queue and with its revision.
    #[schema(min_items = 1, max_items = 20)]
    pub edits: Vec<EditBody>,
    /// Takes limits below what is held now. Nothing is stopped for it.
    #[serde(default)]
    pub below_use: bool,
}

/// Edits that were made together.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChangesView {
    /// The queues, in the order of the edits.
    pub items: Vec<ChangedView>,
}

/// A queue that was changed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChangedView {
    /// `project/NAME` or `group/NAME`.
    pub queue: String,
    /// Its revision since.
    pub revision: u64,
}

/// What a queue is.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueKind {
    /// A group.
    Group,
    /// A project.
    Project,
}

impl EditBody {
    /// Which queue it is about.
    pub fn queue(&self) -> Queue {
        match self.kind {
            QueueKind::Group => Queue::Group(self.name.clone()),
            QueueKind::Project => Queue::Project(self.name.clone()),
        }
    }
}

/// What edits would do now. What jobs do later is not guessed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PreviewView {
    /// Why the edits would be refused; of code `conflict` where `below_use` allows it. Paths begin with `/edits/N`.
    pub problems: Vec<ProblemView>,
    /// Running jobs beyond what their queue could hold: they go on, and nothing more of it starts until enough has ended.
    pub over: Affected,
    /// Running jobs that would have to give back what they have borrowed.
    pub give_back: Affected,
    /// Waiting jobs that would start.
    pub start: Affected,
    /// Waiting jobs that would have started, and would not.
    pub wait: Affected,
    /// Clusters whose queue could not be asked now: nothing is told of their jobs.
    pub unknown: Vec<String>,
}

/// Jobs that are affected.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Affected {
    /// How many.
    pub count: usize,
    /// The first hundred of them.
    pub jobs: Vec<JobView>,
}

/// A job that runs or waits.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct JobView {
    /// Its run.
    pub run: String,
    /// Its project.
    pub project: String,
    /// Its pipeline.
    pub pipeline: String,
    /// Its task.
    pub task: String,
    /// Its instance.
    pub instance: u32,
    /// Who started its run.
    pub user: String,
    /// The pool.
    pub pool: String,
    /// What it holds or asks for, as people write it.
    #[schema(value_type = Object)]
    pub amounts: BTreeMap<String, Value>,
    /// Since when it holds it, or waits.
    pub since: Time,
}

impl From<&Job> for JobView {
    fn from(job: &Job) -> Self {
        Self {
            run: job.run.to_string(),
            project: job.project.clone(),
            pipeline: job.pipeline.clone(),
            task: job.task.clone(),
            instance: job.instance,
            user: job.user.clone(),
            pool: job.pool.to_string(),
            amounts: written(&job.amounts),
            since: Time(job.since),
        }
    }
}
