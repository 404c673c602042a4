//! Views and request bodies of quotas. Configured amounts are written as in documents: `{"cpu": "500m",
//! "memory": "64Gi", "gpus": 8}`. Computed amounts are in cores, bytes and counts.

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

/// The quota tree, as far as it is visible to you.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QuotasView {
    /// Clusters and node groups, each with its capacity and the total amounts that are guaranteed and in use.
    pub pools: Vec<PoolView>,
    /// Groups and projects, each listed after its group. Members see their projects and the groups above these.
    pub queues: Vec<QueueView>,
}

/// A cluster or a node group of a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PoolView {
    /// Name of the pool in quotas: `CLUSTER` or `CLUSTER/NODE_GROUP`.
    pub pool: String,
    /// Cluster.
    pub cluster: String,
    /// Node group. Omitted if the pool is the whole cluster, for jobs that do not name a node group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_group: Option<String>,
    /// Capacity.
    pub resources: Vec<PoolShareView>,
}

/// A resource of a pool.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PoolShareView {
    /// Name of the resource: `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    pub resource: String,
    /// Total amount. Omitted if it is unknown or unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<f64>,
    /// Amount that is guaranteed to all queues together.
    pub guaranteed: f64,
    /// Amount in use by all jobs. For a whole cluster, this includes jobs in its node groups.
    pub held: f64,
}

/// A group or a project.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QueueView {
    /// Kind of the queue: `group` or `project`.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Parent group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Quota settings, by pool.
    pub quotas: BTreeMap<String, QuotaBody>,
    /// Current shares, by pool.
    pub shares: BTreeMap<String, Vec<ShareView>>,
    /// Revision of the queue. In quotation marks, it is the ETag. It is 0 for a project without quota settings.
    pub revision: u64,
}

/// Share of a queue in one resource of a pool.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ShareView {
    /// Name of the resource: `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    pub resource: String,
    /// Guaranteed amount.
    pub guarantee: f64,
    /// Maximum amount that the queue can use: its limit, or its guarantee if it cannot borrow. Omitted if there is no
    /// maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
    /// Allocated amount.
    pub held: f64,
    /// Amount in use beyond the guarantee.
    pub borrowed: f64,
    /// Part of the guarantee that other queues use.
    pub lent: f64,
}

impl ShareView {
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

/// An amount as a number: cores, bytes or counts.
pub(crate) fn number(resource: &Resource, amount: u64) -> f64 {
    match resource {
        Resource::Cpu => amount as f64 / 1000.0,
        _ => amount as f64,
    }
}

/// Desired settings of a queue.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueBody {
    /// Parent group. Omitted for a queue at the top level.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent: Option<String>,
    /// Quotas for each pool (`CLUSTER` or `CLUSTER/NODE_GROUP`). In all other pools, the queue has no guarantee and
    /// no limit.
    #[serde(default)]
    pub quotas: BTreeMap<String, QuotaBody>,
    /// Whether to accept a limit below the current usage. No running jobs are stopped. New jobs start only after
    /// enough running jobs have ended.
    #[serde(skip_serializing_if = "is_false", default)]
    pub below_use: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// Quota of a queue in a pool. Amounts are keyed by resource: `cpu`, `memory`, `gpus`, `gpus/TYPE`, `pods`, `runs`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QuotaBody {
    /// Guaranteed amounts. The queue gets what it needs of them, if necessary by reclaiming what others borrowed.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub guarantee: BTreeMap<String, Value>,
    /// Maximum amount that the queue can use, including borrowed resources.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub limit: BTreeMap<String, Value>,
    /// Weight of the queue, relative to its siblings, in the distribution of resources that are not guaranteed or not
    /// in use.
    #[serde(default = "Quota::usual_weight")]
    #[schema(minimum = 1, maximum = 1000)]
    pub weight: u32,
    /// Whether it may borrow beyond its guarantee.
    #[serde(default = "yes")]
    pub borrow: bool,
    /// Whether others may borrow the unused part of its guarantee.
    #[serde(default = "yes")]
    pub lend: bool,
    /// Maximum amounts allocated to the jobs of one user. Applies to projects only.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub per_person: BTreeMap<String, Value>,
    /// Highest priority that its tasks may set. Omitted if any priority is allowed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(minimum = -1000, maximum = 1000)]
    pub max_priority: Option<i32>,
}

fn yes() -> bool {
    true
}

/// Settings of a queue, in the form of a request.
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

/// Settings of a queue, with their revision.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SaidView {
    /// Parent group. Omitted for a queue at the top level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Quotas for each pool, as written in the request.
    pub quotas: BTreeMap<String, QuotaBody>,
    /// Revision of the queue. In quotation marks, it is the ETag. It is 0 for a project without quota settings.
    pub revision: u64,
}

impl SaidView {
    /// Settings of a queue, with the ETag.
    pub(crate) fn of(record: &QueueRecord) -> Tagged<Self> {
        let QueueBody { parent, quotas, .. } = body_of(record);
        Tagged(record.revision, Self { parent, quotas, revision: record.revision })
    }
}

/// Edits to simulate together.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewBody {
    /// Edits, at most 20.
    #[schema(max_items = 20)]
    pub edits: Vec<EditBody>,
}

/// Proposed settings of a queue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditBody {
    /// Whether the queue is a group or a project.
    pub kind: QueueKind,
    /// Name.
    pub name: String,
    /// Proposed parent group.
    #[serde(default)]
    pub parent: Option<String>,
    /// Proposed quotas for each pool.
    #[serde(default)]
    pub quotas: BTreeMap<String, QuotaBody>,
    /// Whether the edit removes the queue.
    #[serde(default)]
    pub delete: bool,
    /// Revision that the edit is based on, or 0 if the queue has no settings yet. Not required for a simulation.
    #[serde(default)]
    pub revision: Option<u64>,
}

/// Edits to apply together.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangesBody {
    /// From 1 to 20 edits. Each edit is for a different queue and contains a revision.
    #[schema(min_items = 1, max_items = 20)]
    pub edits: Vec<EditBody>,
    /// Whether to accept limits below the current usage. No running jobs are stopped.
    #[serde(default)]
    pub below_use: bool,
}

/// Edits that were applied together.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChangesView {
    /// Changed queues, in the order of the edits.
    pub items: Vec<ChangedView>,
}

/// A changed queue.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChangedView {
    /// Queue, as `project/NAME` or `group/NAME`.
    pub queue: String,
    /// Revision of the queue after the change.
    pub revision: u64,
}

/// Kind of a queue.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueKind {
    /// A group.
    Group,
    /// A project.
    Project,
}

impl EditBody {
    /// The queue that the body is about.
    pub fn queue(&self) -> Queue {
        match self.kind {
            QueueKind::Group => Queue::Group(self.name.clone()),
            QueueKind::Project => Queue::Project(self.name.clone()),
        }
    }
}

/// Immediate impact of edits. Later behaviour of jobs is not predicted.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PreviewView {
    /// Reasons why the edits would be refused. The code is `conflict` if `below_use` would allow the edit. Paths
    /// begin with `/edits/N`.
    pub problems: Vec<ProblemView>,
    /// Running jobs beyond the new limits of their queue. They continue to run, and no more jobs of the queue start
    /// until enough have ended.
    pub over: Affected,
    /// Running jobs that would be preempted because borrowed quota is reclaimed.
    pub give_back: Affected,
    /// Pending jobs that would start.
    pub start: Affected,
    /// Pending jobs that would have started without the edits and would remain pending.
    pub wait: Affected,
    /// Clusters whose queue is unreachable. Their jobs are not included in the impact.
    pub unknown: Vec<String>,
}

/// Affected jobs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Affected {
    /// Number of affected jobs.
    pub count: usize,
    /// First 100 affected jobs.
    pub jobs: Vec<JobView>,
}

/// A running or pending job.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct JobView {
    /// Run.
    pub run: String,
    /// Project.
    pub project: String,
    /// Pipeline.
    pub pipeline: String,
    /// Task.
    pub task: String,
    /// Instance.
    pub instance: u32,
    /// User who started the run.
    pub user: String,
    /// Node pool.
    pub pool: String,
    /// Amounts allocated to or requested by the job, in human-readable form.
    #[schema(value_type = Object)]
    pub amounts: BTreeMap<String, Value>,
    /// Time at which the allocation or the wait started.
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
