//! The port to clusters: the small set of things that every executor does.
//!
//! An executor reports what happens to the [`Observer`] that it was given; it never decides. Reports may come
//! twice or late: the engine takes each as an observation of its next pass.

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

/// A future in a box: the port is used as `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A job on its way to a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// What it is.
    pub job: Arc<Job>,
    /// What the cluster takes.
    pub lowered: Arc<Lowered>,
}

/// Where an executor reports. Never blocks; may be called from any thread.
pub trait Observer: Send + Sync {
    /// Something happened to an attempt.
    fn observed(&self, observation: Observation);
}

/// Why an attempt is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// Somebody wanted it.
    Cancelled,
    /// It took too long.
    Timeout,
    /// Its place is needed.
    Preempted,
    /// Other trials of its search are better.
    Outdone,
    /// It hangs.
    Hung,
    /// A person has set its outcome.
    Marked,
}

/// What a cluster has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The cluster's name.
    pub cluster: String,
    /// Its kind: `local`, ...
    pub kind: String,
    /// Nodes.
    pub nodes: Vec<NodeFacts>,
    /// Node groups that a placement can refer to.
    #[serde(default)]
    pub node_groups: Vec<String>,
    /// Secrets that tasks may name.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// Hosts of registries at which the project has an account to pull images with.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub registries: Vec<String>,
    /// Volumes that tasks may name, and where they are.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub volumes: BTreeMap<String, VolumePlace>,
    /// The project's models by name. `None`: this is not a place to ask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub models: Option<BTreeMap<String, Usable>>,
    /// The names of the project's pipelines. `None`: this is not a place to ask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pipelines: Option<BTreeSet<String>>,
    /// Those who see the project: its members, and administrators. `None`: this is not a place to ask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub people: Option<BTreeSet<String>>,
    /// The names of the limits that there are. `None`: this is not a place to ask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limits: Option<BTreeSet<String>>,
    /// The highest priority that the project's tasks may name, where there is one: by node group, and with an empty name for
    /// tasks that name none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub max_priority: BTreeMap<String, i32>,
    /// The priority classes. `None`: this is not a place to ask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority_classes: Option<Vec<PriorityClass>>,
    /// Debian packages that templates ask for and that are not there. `None`: this is not a place to ask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub installed_apt: Option<Vec<String>>,
    /// What lowering must know of a Kubernetes cluster.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kubernetes: Option<KubernetesFacts>,
    /// What lowering must know of a Slurm cluster.
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

/// What one node has for jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// Name.
    pub name: String,
    /// Processing power.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Bytes,
    /// GPUs that are handed out whole.
    #[serde(default)]
    pub gpus: Vec<GpuFacts>,
    /// Slices of cards, how many of each profile of MIG.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub mig: BTreeMap<String, u32>,
    /// Shares of cards that Volcano hands out (`volcano.sh/vgpu-number`).
    #[serde(skip_serializing_if = "is_zero", default)]
    pub vgpus: u32,
    /// The node groups that it is of, by name; jobs of these may run on it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub groups: Vec<String>,
    /// Who is on it; `None` where the cluster does not tell.
    #[serde(skip)]
    pub taken: Option<Taken>,
}

/// What is taken of a node, whether it is used or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// By what is no worker of a job; `None` where nobody knows.
    pub others: Option<Amount>,
    /// By the workers of jobs that are on it, by attempt.
    pub ours: BTreeMap<AttemptKey, Amount>,
}

impl NodeFacts {
    /// Whether it has cards, or parts of cards, for jobs.
    #[must_use]
    pub fn has_cards(&self) -> bool {
        !self.gpus.is_empty() || !self.mig.is_empty() || self.vgpus > 0
    }

    /// As an amount.
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

/// What the one of them with the most memory has; of CPU, no more than a worker may use.
#[must_use]
pub fn largest(nodes: &[NodeFacts], asked: &Resources, node_group: Option<&str>) -> Option<Size> {
    let largest = able(nodes, asked, node_group).max_by_key(|node| (node.memory, node.cpu))?;
    let cpu = asked.most_cpu().map_or(largest.cpu, |most| most.min(largest.cpu));
    Some(Size { cpu, memory: largest.memory })
}

/// One GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuFacts {
    /// UUID.
    pub uuid: String,
    /// Product name.
    pub name: String,
    /// Its memory.
    pub memory: Bytes,
    /// The XID error of its own for which no job gets it. None while a job has it: that keeps it until it ends.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub xid: Option<u32>,
}

/// The adapter for one kind of cluster.
pub trait Executor: Send + Sync {
    /// What the cluster has now.
    fn facts(&self) -> Facts;

    /// The uid and gid of a project's files on this machine, where its jobs run under one of their own.
    ///
    /// # Errors
    /// When it cannot be found out, or not be kept.
    fn owner(&self, _project: &str) -> Result<Option<u32>, Failure> {
        Ok(None)
    }

    /// Says where to report from now on. Called once, before anything else but `facts`.
    fn attach(&self, observer: Arc<dyn Observer>);

    /// The tree of quotas, told whenever it has changed: a cluster that has queues of its own keeps them like it.
    fn share(&self, _queues: &Arc<Vec<QueueRecord>>) {}

    /// The nodes that are set aside now, each with the reason, told whenever they have changed: no job goes there, and they
    /// are none of [`Facts::nodes`]. An executor of one node has none.
    fn set_aside(&self, _nodes: BTreeMap<String, String>) {}

    /// Reserves what only submission can know (addresses, ports, devices) under the job's key. Cheap; the same
    /// key gets the same bindings until it is released.
    ///
    /// # Errors
    /// A failure of kind `CouldNotStart` when something that the job names is not there (any more).
    fn bind(&self, job: &Job) -> Result<Bindings, Failure>;

    /// What [`Executor::bind`] would answer now, with nothing reserved; `None` where only a reservation can tell.
    ///
    /// # Errors
    /// Those of `bind`.
    fn foresee(&self, _job: &Job) -> Result<Option<Bindings>, Failure> {
        Ok(None)
    }

    /// Takes back, after a restart, the reservation that is stored with an attempt.
    fn rebind(&self, job: &Job, bindings: &Bindings);

    /// Why nothing new starts there for now, where something is short that no job asks for, such as the room of a disk: a sentence.
    /// Cheap: it is asked before each pass.
    fn held_up(&self) -> Option<String> {
        None
    }

    /// The projects whose attempts do not start there for now, each with a sentence that says why: e.g. its storage is over its
    /// limit. Cheap: it is asked before each pass.
    fn held_projects(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// How many jobs it is given at a time: what is sent of each lies in memory until it has taken it.
    fn at_once(&self) -> usize {
        usize::MAX
    }

    /// Starts a job, or takes up the one that is already there under its key. The result is reported.
    fn submit(&self, submission: Submission) -> BoxFuture<'_, ()>;

    /// Takes up a job that an earlier server had started; reports `NotFound` when it is not there.
    fn adopt(&self, submission: Submission) -> BoxFuture<'_, ()>;

    /// Stops a job: told first (TERM), ended after `grace`. Reports `Ended` when nothing of it runs any more,
    /// also when it never ran.
    fn cancel(&self, key: &AttemptKey, cause: StopCause, grace: Duration) -> BoxFuture<'_, ()>;

    /// Frees what `bind` reserved: the attempt's end is stored.
    fn release(&self, key: &AttemptKey);

    /// How the cluster is.
    fn standing(&self) -> Standing {
        Standing::Connected
    }

    /// Looks at what a project finds there and what it misses; `None` for a cluster of which the facts say all.
    fn survey<'a>(&'a self, _project: &'a str) -> Option<BoxFuture<'a, Survey>> {
        None
    }

    /// Measures what its nodes and cards do now; `None` where others measure that. Blocking, for some milliseconds.
    fn measure(&self) -> Option<Reading> {
        None
    }

    /// The error that [`Self::forget_fault`] would forget now.
    fn known_fault(&self, _uuid: &str) -> Option<u32> {
        None
    }

    /// Lets jobs have a card again that none gets as the driver has reported an error of it; the error. `None` where none is
    /// known of such a card.
    fn forget_fault(&self, _uuid: &str) -> Option<u32> {
        None
    }

    /// What the cluster itself tells of what its nodes and our pods use, as it was looked at within the last minute: for where
    /// nobody measures it. `None` where it tells nothing.
    fn told_use(&self) -> Option<Reading> {
        None
    }

    /// What the cluster told of an attempt, the latest at the end.
    fn notices<'a>(&'a self, _key: &'a AttemptKey) -> BoxFuture<'a, Vec<Notice>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Whether an attempt is suspended: its workers are gone, and what they held is free, until it is resumed. `None` where
    /// it cannot be: the cluster has no such thing, or it has ended.
    fn suspended(&self, _key: &AttemptKey) -> Option<bool> {
        None
    }

    /// Suspends an attempt, or resumes it; does nothing where that is so already.
    ///
    /// # Errors
    /// A sentence why not.
    fn suspend<'a>(&'a self, _key: &'a AttemptKey, _suspended: bool) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Err("jobs of this cluster cannot be suspended".into())))
    }

    /// What the workers of an attempt are at, those of Python with their frames; none where the cluster cannot look.
    fn stacks<'a>(&'a self, _key: &'a AttemptKey) -> BoxFuture<'a, Vec<WorkerStack>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Gives single workers to jobs that run, and takes some, where the cluster can.
    fn scaling(&self) -> Option<&dyn Scaling> {
        None
    }

    /// Gives the workers of jobs that run more memory, where the cluster can.
    fn growth(&self) -> Option<&dyn Growth> {
        None
    }

    /// What workers wrote, where the cluster lets it be read.
    fn logs(&self) -> Option<&dyn Logs> {
        None
    }

    /// What workers use over time, where the cluster lets it be read.
    fn usage(&self) -> Option<&dyn UsageSeries> {
        None
    }

    /// What the cards of workers do over time, where that can be read: by it is seen that all have fallen idle.
    fn cards(&self) -> Option<&dyn UsageSeries> {
        self.usage()
    }

    /// Terminals where attempts have ended, where the cluster can give some.
    fn terminals(&self) -> Option<&dyn Terminals> {
        None
    }
}

/// Gives single workers of the elastic role to jobs that run, and takes some: those with the highest ranks come last and go
/// first.
pub trait Scaling: Send + Sync {
    /// Reserves what a job needs with as many workers as it has now beyond those that it has a reservation for; frees what
    /// is reserved for more. Those that it keeps are bound as they were, by `bound`.
    ///
    /// # Errors
    /// A failure of kind `CouldNotStart` when there is nothing left of something: what was reserved before still is.
    fn resize(&self, job: &Job, bound: &Bindings) -> Result<Bindings, Failure>;

    /// Makes a job that runs have the workers of this submission: starts those that it has not, in place of those that were
    /// lost also; tells those beyond to stop (TERM), ends them after `grace`, and reports [`Event::Resized`] when they are gone.
    /// An earlier wish that is not fulfilled yet is replaced. Does nothing when the job has ended.
    fn scale(&self, submission: Submission, grace: Duration) -> BoxFuture<'_, ()>;
}

/// Gives the workers of jobs that run more memory than they began with: an optional capability of executors. Of a job that
/// [grows](Job::grows) they report [`Event::NearlyFull`]; a job that is taken up gets what its submission says.
pub trait Growth: Send + Sync {
    /// Whether it can be done for the jobs of a project.
    fn may_grow(&self, _project: &str) -> bool {
        true
    }

    /// Makes the workers of a job that runs have the memory of this submission, without starting them again. The same twice is
    /// the same as once; nothing becomes less; does nothing when the job has ended. What the cluster cannot give the workers go
    /// on without; where it says so, that is reported as [`Event::NotGiven`].
    fn grow(&self, submission: Submission) -> BoxFuture<'_, ()>;
}
