//! The clusters that a server knows: which there are, how they are, and what an administrator has said of those that were
//! added while it ran.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::executor::Executor;
use crate::kubernetes::KubernetesFacts;
use crate::monitoring::MonitoringSettings;
use crate::slurm::SlurmSettings;

/// The name of the server's own machine as a cluster.
pub const LOCAL: &str = "local";

/// Where runs of other pipelines go, as a cluster. It is none that anybody may name.
pub const RUNS: &str = "@runs";

/// The clusters that are there now, by name. They may come and go while the server runs; all who hold a copy see it.
#[derive(Clone, Default)]
pub struct Clusters(Arc<RwLock<BTreeMap<String, Arc<dyn Executor>>>>);

impl Clusters {
    /// One of them.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn Executor>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All of them, in the order of their names.
    #[must_use]
    pub fn all(&self) -> Vec<(String, Arc<dyn Executor>)> {
        let clusters = self.0.read().unwrap_or_else(PoisonError::into_inner);
        clusters.iter().map(|(name, executor)| (name.clone(), Arc::clone(executor))).collect()
    }

    /// The one that is meant where none is named: the server's own machine, else the first by name.
    #[must_use]
    pub fn usual(&self) -> Option<Arc<dyn Executor>> {
        self.get(LOCAL).or_else(|| self.all().into_iter().next().map(|(_, executor)| executor))
    }

    /// The name of an executor that is one of them.
    #[must_use]
    pub fn name_of(&self, executor: &Arc<dyn Executor>) -> Option<String> {
        let clusters = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = clusters.iter().find(|(_, known)| Arc::ptr_eq(known, executor));
        found.map(|(name, _)| name.clone())
    }

    /// Adds one, or puts another in its place.
    pub fn put(&self, name: impl Into<String>, executor: Arc<dyn Executor>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name.into(), executor);
    }

    /// Takes one away.
    pub fn remove(&self, name: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

impl FromIterator<(String, Arc<dyn Executor>)> for Clusters {
    fn from_iter<T: IntoIterator<Item = (String, Arc<dyn Executor>)>>(clusters: T) -> Self {
        Self(Arc::new(RwLock::new(clusters.into_iter().collect())))
    }
}

/// Connection state of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing was asked of it yet.
    Unknown,
    /// It answers.
    Connected,
    /// It does not answer.
    Away {
        /// Start time.
        since: Timestamp,
        /// Attempted operation and its result.
        why: String,
    },
    /// An administrator has given it up.
    GivenUp {
        /// When.
        since: Timestamp,
    },
    /// It does not know us (any more).
    Refused {
        /// Start time.
        since: Timestamp,
        /// What it says.
        why: String,
    },
}

impl Standing {
    /// Why nothing starts there now, where the cluster does not answer; `has_nodes` says whether it is known what it has.
    #[must_use]
    pub fn held_up(&self, has_nodes: bool) -> Option<String> {
        match self {
            Self::Away { why: error, .. } | Self::Refused { why: error, .. } => {
                Some(format!("the cluster does not answer: {error}"))
            }
            Self::Unknown if !has_nodes => Some("the cluster has not answered yet".into()),
            // Of one that is given up, each attempt fails with the reason.
            Self::Unknown | Self::Connected | Self::GivenUp { .. } => None,
        }
    }
}

/// What a project finds on a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The version of the cluster itself; absent when it did not answer.
    pub version: Option<String>,
    /// Why it did not.
    pub error: Option<String>,
    /// What is there, and what is not.
    pub findings: Vec<Finding>,
    /// What it did not do lately.
    pub refusals: Option<Refusals>,
}

/// Requests of the last ten minutes that a cluster did not answer, or could not do at that time: it has too much to do, or
/// waits for a webhook in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusals {
    /// How many, at most 1,000.
    pub count: usize,
    /// What the last was for, and what came of it.
    pub why: String,
}

/// One thing that was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing.
    pub subject: Subject,
    /// Its name: a program, a kind as `<plural>.<group>/<version>`, an object, `<verb> <resource>`, the field of a setting.
    pub name: String,
    /// Whether it is installed.
    pub found: bool,
    /// Its version, or another detail.
    pub detail: Option<String>,
}

/// What kind of thing was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A program that runs on the cluster.
    Program,
    /// A kind of objects.
    Kind,
    /// The project's namespace.
    Namespace,
    /// The account of its pods.
    ServiceAccount,
    /// The claim that holds its workspace.
    Claim,
    /// Whether the server sees the files of that claim, and where.
    Files,
    /// Something that the server must be allowed to do.
    Right,
    /// A queue that is kept like the tree of quotas.
    Queue,
    /// Nodes that are set aside.
    Aside,
    /// What pods of others take of the nodes.
    Others,
    /// What a setting of the cluster names.
    Setting,
    /// What a setting names, and was not looked at.
    Untried,
}

impl Subject {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Kind => "kind",
            Self::Namespace => "namespace",
            Self::ServiceAccount => "service_account",
            Self::Claim => "claim",
            Self::Files => "files",
            Self::Right => "right",
            Self::Queue => "queue",
            Self::Aside => "aside",
            Self::Others => "others",
            Self::Setting => "setting",
            Self::Untried => "untried",
        }
    }
}

/// A cluster that an administrator has added.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterRecord {
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// What was said of it.
    pub settings: ClusterSettings,
    /// The kubeconfig, encrypted.
    pub sealed: Option<String>,
    /// The password or the token that its Prometheus wants, encrypted.
    pub sealed_prometheus: Option<String>,
    /// Registration time.
    pub created_at: Timestamp,
    /// Counts its changes, from 1.
    pub revision: u64,
}

/// What an administrator says of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSettings {
    /// Access method.
    pub access: AccessKind,
    /// Context of the kubeconfig. Defaults to its current context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<String>,
    /// What cannot be found out of a Kubernetes cluster. `{project}` in it stands for a project's name.
    pub facts: KubernetesFacts,
    /// What is said of a Slurm cluster, which is reached by its commands.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slurm: Option<SlurmSettings>,
    /// Retention of the manifests of a finished job, in seconds.
    pub keep: u64,
    /// Pending timeout: maximum time that a pod may wait for a missing dependency (an image, a volume, a Secret), in
    /// seconds.
    pub patience: u64,
    /// Where its measurements are.
    #[serde(default)]
    pub monitoring: MonitoringSettings,
    /// When an administrator gave it up, as it will not come back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub given_up_at: Option<Timestamp>,
}

/// Access method of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessKind {
    /// With the service account of the pod that the server runs in.
    InCluster,
    /// With a kubeconfig.
    Kubeconfig,
    /// With Slurm's commands on the server's machine.
    Slurm,
}

/// Why a cluster cannot be used as it was described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterFault {
    /// The field, as a JSON pointer.
    pub field: &'static str,
    /// Message.
    pub message: String,
}

/// Makes the executor of a cluster from its name, what was said of it, and its kubeconfig. Nothing is asked of the cluster.
pub type MakeCluster =
    dyn Fn(&str, &ClusterSettings, Option<String>) -> Result<Arc<dyn Executor>, ClusterFault> + Send + Sync;
