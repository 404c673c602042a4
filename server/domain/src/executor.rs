//! The port to clusters: the small set of operations that every executor supports.
//!
//! An executor reports events to its [`Observer`] and never decides. Reports may be duplicated or late: the
//! engine treats each as an observation in its next cycle.

mod events;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::belongings::VolumePlace;
use crate::clusters::{Standing, Survey};
use crate::hang::WorkerStack;
use crate::ids::AttemptKey;
use crate::job::Job;
use crate::kubernetes::KubernetesFacts;
use crate::logs::Logs;
use crate::lowered::{Bindings, Lowered};
use crate::model::Usable;
use crate::monitoring::Reading;
use crate::outcome::Failure;
use crate::priority::PriorityClass;
use crate::quantity::{Bytes, Cpu, is_zero};
use crate::quota::QueueRecord;
use crate::resources::{Amount, Resources};
use crate::sizing::Size;
use crate::slurm::SlurmFacts;
use crate::terminal::Terminals;
use crate::usage::UsageSeries;

pub use events::{
    Artifact, Ended, Event, Metric, NearlyFull, NotGiven, Notice, Observation, Progress, Report,
};

/// A boxed future, because the port is used as `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A job to be submitted to a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    pub job: Arc<Job>,
    /// The form that the cluster accepts.
    pub lowered: Arc<Lowered>,
}

/// Receives an executor's reports. Never blocks; may be called from any thread.
pub trait Observer: Send + Sync {
    /// An event of an attempt.
    fn observed(&self, observation: Observation);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// A user requested it.
    Cancelled,
    /// It reached its timeout.
    Timeout,
    /// It is preempted.
    Preempted,
    /// Other trials of its search are better.
    Outdone,
    Hung,
    /// A user has set its outcome.
    Marked,
}

/// What a cluster has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub cluster: String,
    /// Its kind: `local`, ...
    pub kind: String,
    pub nodes: Vec<NodeFacts>,
    /// Node groups that a placement can refer to.
    #[serde(default)]
    pub node_groups: Vec<String>,
    /// Secrets that tasks may name.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// Hosts of registries where the project has an account to pull images with.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub registries: Vec<String>,
    /// Volumes that tasks may name, and their location.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub volumes: BTreeMap<String, VolumePlace>,
    /// The project's models by name. `None` means unknown in this context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub models: Option<BTreeMap<String, Usable>>,
    /// The names of the project's pipelines. `None` means unknown in this context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pipelines: Option<BTreeSet<String>>,
    /// Users with access to the project: its members, and administrators. `None` means unknown in this
    /// context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub people: Option<BTreeSet<String>>,
    /// The names of the concurrency limits. `None` means unknown in this context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limits: Option<BTreeSet<String>>,
    /// The maximum priority for the project's tasks, if there is one: by node group, and with an empty name
    /// for tasks without one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub max_priority: BTreeMap<String, i32>,
    /// The priority classes. `None` means unknown in this context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority_classes: Option<Vec<PriorityClass>>,
    /// Debian packages that templates require and that are not installed. `None` means unknown in this
    /// context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub installed_apt: Option<Vec<String>>,
    /// Whether a single machine can dedicate CPUs to a worker; on other clusters their scheduler does.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub dedicates_cpus: bool,
    /// What lowering needs to know of a Kubernetes cluster.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kubernetes: Option<KubernetesFacts>,
    /// What lowering needs to know of a Slurm cluster.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slurm: Option<SlurmFacts>,
}

impl Facts {
    /// Total capacity of all nodes.
    #[must_use]
    pub fn capacity(&self) -> Amount {
        self.nodes.iter().fold(Amount::default(), |sum, node| sum.plus(node.amount()))
    }
}

/// A node's resources for jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeFacts {
    pub name: String,
    pub cpu: Cpu,
    pub memory: Bytes,
    /// GPUs that are allocated whole.
    #[serde(default)]
    pub gpus: Vec<GpuFacts>,
    /// MIG slices: number of each profile.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub mig: BTreeMap<String, u32>,
    /// GPU shares that Volcano allocates (`volcano.sh/vgpu-number`).
    #[serde(skip_serializing_if = "is_zero", default)]
    pub vgpus: u32,
    /// Names of its node groups, whose jobs may run on it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub groups: Vec<String>,
    /// Its usage. `None` if the cluster does not report it.
    #[serde(skip)]
    pub taken: Option<Taken>,
}

/// What is allocated on a node, used or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// By pods or processes that are not workers of a job. `None` if unknown.
    pub others: Option<Amount>,
    /// By workers of jobs, by attempt.
    pub ours: BTreeMap<AttemptKey, Amount>,
}

impl NodeFacts {
    /// Whether it has GPUs, or parts of them, for jobs.
    #[must_use]
    pub fn has_cards(&self) -> bool {
        !self.gpus.is_empty() || !self.mig.is_empty() || self.vgpus > 0
    }

    #[must_use]
    pub fn amount(&self) -> Amount {
        Amount {
            cpu: self.cpu,
            memory: self.memory,
            gpus: u32::try_from(self.gpus.len()).unwrap_or(u32::MAX),
        }
    }
}

/// The nodes of a node group, or of all, on which a worker with these resources could run.
pub fn able<'n>(
    nodes: &'n [NodeFacts],
    asked: &Resources,
    node_group: Option<&str>,
) -> impl Iterator<Item = &'n NodeFacts> {
    let asked = Amount::of(asked, 1);
    let is_of_group =
        move |node: &&NodeFacts| node_group.is_none_or(|name| node.groups.iter().any(|group| group == name));
    nodes.iter().filter(is_of_group).filter(move |node| asked.fits(node.amount()))
}

/// The resources of the largest such node by memory. CPU is capped at what a worker may use.
#[must_use]
pub fn largest(nodes: &[NodeFacts], asked: &Resources, node_group: Option<&str>) -> Option<Size> {
    let largest = able(nodes, asked, node_group).max_by_key(|node| (node.memory, node.cpu))?;
    let cpu = asked.most_cpu().map_or(largest.cpu, |most| most.min(largest.cpu));
    Some(Size { cpu, memory: largest.memory })
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuFacts {
    pub uuid: String,
    pub name: String,
    pub memory: Bytes,
    /// The XID error because of which no job gets it. `None` while a job has it, which keeps it until its
    /// end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub xid: Option<u32>,
}

/// The adapter for one kind of cluster.
pub trait Executor: Send + Sync {
    /// The cluster's current facts.
    fn facts(&self) -> Facts;

    /// The uid and gid of a project's files on this machine, if its jobs run under their own.
    ///
    /// # Errors
    /// The account cannot be determined or allocated.
    fn owner(&self, _project: &str) -> Result<Option<u32>, Failure> {
        Ok(None)
    }

    /// Sets the observer. Called once, before anything but `facts`.
    fn attach(&self, observer: Arc<dyn Observer>);

    /// Passes the quota tree after each change. A cluster with queues of its own mirrors it.
    fn share(&self, _queues: &Arc<Vec<QueueRecord>>) {}

    /// Passes the cordoned nodes, each with the reason, after each change. No job goes there, and they are
    /// not in [`Facts::nodes`]. An executor with one node has none.
    fn set_aside(&self, _nodes: BTreeMap<String, String>) {}

    /// Reserves what only submission can know (addresses, ports, devices) under the job's key. Cheap; the
    /// same key gets the same bindings until it is released.
    ///
    /// # Errors
    /// A failure of kind `CouldNotStart` if something that the job names does not exist (any more).
    fn bind(&self, job: &Job) -> Result<Bindings, Failure>;

    /// What [`Executor::bind`] would return now, without reserving anything. `None` if only a reservation can
    /// tell.
    ///
    /// # Errors
    /// Those of `bind`.
    fn foresee(&self, _job: &Job) -> Result<Option<Bindings>, Failure> {
        Ok(None)
    }

    /// Restores, after a restart, the reservation that is stored with an attempt.
    fn rebind(&self, job: &Job, bindings: &Bindings);

    /// Why nothing new starts there for now, as a sentence, if something is short that no job requests, such
    /// as disk space. Cheap: called before each cycle.
    fn held_up(&self) -> Option<String> {
        None
    }

    /// Projects whose attempts do not start there for now, each with the reason as a sentence, e.g. its
    /// storage is over its limit. Cheap: called before each cycle.
    fn held_projects(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Maximum number of concurrent submissions: each one's payload stays in memory until it is accepted.
    fn at_once(&self) -> usize {
        usize::MAX
    }

    /// Starts a job, or restores one that already exists under its key. The result is reported.
    fn submit(&self, submission: Submission) -> BoxFuture<'_, ()>;

    /// Restores a job that an earlier server started. Reports `NotFound` if it does not exist.
    fn adopt(&self, submission: Submission) -> BoxFuture<'_, ()>;

    /// Stops a job: TERM first, KILL after `grace`. Reports `Ended` when nothing of it runs any more, even if
    /// it never ran.
    fn cancel(&self, key: &AttemptKey, cause: StopCause, grace: Duration) -> BoxFuture<'_, ()>;

    /// Releases what `bind` reserved. Called once the attempt's end is stored.
    fn release(&self, key: &AttemptKey);

    fn standing(&self) -> Standing {
        Standing::Connected
    }

    /// Checks what a project has and lacks on the cluster. `None` for a cluster whose facts say everything.
    fn survey<'a>(&'a self, _project: &'a str) -> Option<BoxFuture<'a, Survey>> {
        None
    }

    /// Measures the current usage of its nodes and GPUs. `None` if other systems do that. Blocks for some
    /// milliseconds.
    fn measure(&self) -> Option<Reading> {
        None
    }

    /// The error that [`Self::forget_fault`] would clear now.
    fn known_fault(&self, _uuid: &str) -> Option<u32> {
        None
    }

    /// Returns a GPU to service that was excluded after a driver error. Returns the error, or `None` if the
    /// GPU has none.
    fn forget_fault(&self, _uuid: &str) -> Option<u32> {
        None
    }

    /// Usage of nodes and pods as reported by the cluster itself within the last minute, for when no
    /// monitoring exists. `None` if it reports none.
    fn told_use(&self) -> Option<Reading> {
        None
    }

    /// The cluster's events of an attempt, newest last.
    fn notices<'a>(&'a self, _key: &'a AttemptKey) -> BoxFuture<'a, Vec<Notice>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Whether an attempt is suspended: its workers are gone, and its resources are free until it is resumed.
    /// `None` if it cannot be suspended: the cluster does not support it, or the attempt has ended.
    fn suspended(&self, _key: &AttemptKey) -> Option<bool> {
        None
    }

    /// Suspends or resumes an attempt. Idempotent.
    ///
    /// # Errors
    /// A sentence with the reason.
    fn suspend<'a>(&'a self, _key: &'a AttemptKey, _suspended: bool) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Err("jobs of this cluster cannot be suspended".into())))
    }

    /// Stack traces of an attempt's workers, with frames for Python. Empty if the cluster cannot collect
    /// them.
    fn stacks<'a>(&'a self, _key: &'a AttemptKey) -> BoxFuture<'a, Vec<WorkerStack>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Scales running jobs by single workers, if the cluster supports it.
    fn scaling(&self) -> Option<&dyn Scaling> {
        None
    }

    /// Increases the memory of running workers, if the cluster supports it.
    fn growth(&self) -> Option<&dyn Growth> {
        None
    }

    /// Logs of workers, if the cluster makes them readable.
    fn logs(&self) -> Option<&dyn Logs> {
        None
    }

    /// Usage of workers over time, if the cluster makes it readable.
    fn usage(&self) -> Option<&dyn UsageSeries> {
        None
    }

    /// GPU usage of workers over time, if readable. It shows when all GPUs are idle.
    fn cards(&self) -> Option<&dyn UsageSeries> {
        self.usage()
    }

    /// Terminals for attempts that have ended, if the cluster supports them.
    fn terminals(&self) -> Option<&dyn Terminals> {
        None
    }
}

/// Adds and removes single workers of the elastic role of running jobs. Those with the highest ranks are
/// added last and removed first.
pub trait Scaling: Send + Sync {
    /// Adjusts a job's reservation to its current number of workers: reserves what it lacks and releases what
    /// it has too much. Workers that it keeps stay bound as in `bound`.
    ///
    /// # Errors
    /// A failure of kind `CouldNotStart` if something is exhausted. The earlier reservation stays.
    fn resize(&self, job: &Job, bound: &Bindings) -> Result<Bindings, Failure>;

    /// Scales a running job to the workers of this submission. It starts missing ones, and replaces lost
    /// ones. It stops those beyond (TERM, KILL after `grace`), and reports [`Event::Resized`] when they are
    /// gone. An earlier request that is not complete is replaced. Does nothing if the job has ended.
    fn scale(&self, submission: Submission, grace: Duration) -> BoxFuture<'_, ()>;
}

/// Gives workers of running jobs more memory than they started with: an optional capability of executors. For
/// a job that [grows](Job::grows), they report [`Event::NearlyFull`]. A restored job gets the memory of its
/// submission.
pub trait Growth: Send + Sync {
    /// Whether jobs of a project can grow.
    fn may_grow(&self, _project: &str) -> bool {
        true
    }

    /// Sets the memory of a running job's workers to that of this submission, without restarting them.
    /// Idempotent; never decreases; does nothing if the job has ended. If the cluster refuses, the workers
    /// continue with what they had, and [`Event::NotGiven`] is reported.
    fn grow(&self, submission: Submission) -> BoxFuture<'_, ()>;
}
