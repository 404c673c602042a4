//! The clusters of a server: the registry, their state, and the settings of those that an administrator added
//! at run time.

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

/// The pseudo cluster for runs of other pipelines. Users cannot name it.
pub const RUNS: &str = "@runs";

/// The current clusters, by name. They may be added and removed while the server runs; all copies share the
/// change.
#[derive(Clone, Default)]
pub struct Clusters(Arc<RwLock<BTreeMap<String, Arc<dyn Executor>>>>);

impl Clusters {
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn Executor>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All of them, sorted by name.
    #[must_use]
    pub fn all(&self) -> Vec<(String, Arc<dyn Executor>)> {
        let clusters = self.0.read().unwrap_or_else(PoisonError::into_inner);
        clusters.iter().map(|(name, executor)| (name.clone(), Arc::clone(executor))).collect()
    }

    /// The default cluster: the server's own machine, or else the first by name.
    #[must_use]
    pub fn usual(&self) -> Option<Arc<dyn Executor>> {
        self.get(LOCAL).or_else(|| self.all().into_iter().next().map(|(_, executor)| executor))
    }

    /// The name of a registered executor.
    #[must_use]
    pub fn name_of(&self, executor: &Arc<dyn Executor>) -> Option<String> {
        let clusters = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = clusters.iter().find(|(_, known)| Arc::ptr_eq(known, executor));
        found.map(|(name, _)| name.clone())
    }

    /// Adds or replaces a cluster.
    pub fn put(&self, name: impl Into<String>, executor: Arc<dyn Executor>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name.into(), executor);
    }

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
    /// Not contacted yet.
    Unknown,
    /// It responds.
    Connected,
    /// It is unreachable.
    Away {
        since: Timestamp,
        /// Attempted operation and its result.
        why: String,
    },
    /// An administrator has decommissioned it.
    GivenUp {
        /// Time of that.
        since: Timestamp,
    },
    /// It rejects the server's credentials.
    Refused {
        since: Timestamp,
        /// Its message.
        why: String,
    },
}

impl Standing {
    /// Why nothing starts there now, if the cluster is unreachable. `has_nodes` says whether its nodes are
    /// known.
    #[must_use]
    pub fn held_up(&self, has_nodes: bool) -> Option<String> {
        match self {
            Self::Away { why: error, .. } | Self::Refused { why: error, .. } => {
                Some(format!("the cluster is unreachable: {error}"))
            }
            Self::Unknown if !has_nodes => Some("the cluster has not responded yet".into()),
            // On a decommissioned cluster, each attempt fails with the reason.
            Self::Unknown | Self::Connected | Self::GivenUp { .. } => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Version of the cluster itself. `None` if it was unreachable.
    pub version: Option<String>,
    /// Why it was unreachable.
    pub error: Option<String>,
    /// What is installed, and what is not.
    pub findings: Vec<Finding>,
    /// Recently failed requests.
    pub refusals: Option<Refusals>,
}

/// Requests of the last ten minutes that a cluster did not answer or could not serve: it is overloaded, or
/// its webhook times out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusals {
    /// Their number, at most 1,000.
    pub count: usize,
    /// The last request, and its result.
    pub why: String,
}

/// A component that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub subject: Subject,
    /// Its name: a program, a kind as `<plural>.<group>/<version>`, an object, `<verb> <resource>`, or a
    /// settings field.
    pub name: String,
    pub found: bool,
    /// Its version, or another detail.
    pub detail: Option<String>,
}

/// Type of a checked component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A program that runs on the cluster.
    Program,
    /// A Kubernetes kind.
    Kind,
    Namespace,
    /// The service account of its pods.
    ServiceAccount,
    /// The claim with its workspace.
    Claim,
    /// Whether and where the server sees the files of that claim.
    Files,
    /// A permission that the server needs.
    Right,
    /// A queue that mirrors the quota tree.
    Queue,
    /// Cordoned nodes.
    Aside,
    /// Usage of the nodes by foreign pods.
    Others,
    /// An object that a setting of the cluster names.
    Setting,
    /// An object that a setting names and that was not checked.
    Untried,
}

impl Subject {
    /// The public name.
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
    pub name: String,
    pub description: String,
    pub settings: ClusterSettings,
    /// The kubeconfig, encrypted.
    pub sealed: Option<String>,
    /// The password or token for its Prometheus, encrypted.
    pub sealed_prometheus: Option<String>,
    pub created_at: Timestamp,
    /// Counts its changes, from 1.
    pub revision: u64,
}

/// Settings of a cluster, from an administrator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSettings {
    pub access: AccessKind,
    /// Context of the kubeconfig. Defaults to its current context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<String>,
    /// Facts that cannot be discovered on a Kubernetes cluster. `{project}` is replaced by a project's name.
    pub facts: KubernetesFacts,
    /// Settings of a Slurm cluster that is used through its commands.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slurm: Option<SlurmSettings>,
    /// Retention of the manifests of a finished job, in seconds.
    pub keep: u64,
    /// Pending timeout: maximum time that a pod may wait for a missing dependency (an image, a volume, a
    /// Secret), in seconds.
    pub patience: u64,
    /// Source of its metrics.
    #[serde(default)]
    pub monitoring: MonitoringSettings,
    /// When an administrator decommissioned it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub given_up_at: Option<Timestamp>,
}

/// Access method of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessKind {
    /// With the service account of the server's pod.
    InCluster,
    /// With a kubeconfig.
    Kubeconfig,
    /// With Slurm's commands on the server's machine.
    Slurm,
}

/// Why a cluster's settings are unusable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterFault {
    /// The field, as a JSON pointer.
    pub field: &'static str,
    pub message: String,
}

/// Creates a cluster's executor from its name, its settings and its kubeconfig, without contacting the
/// cluster.
pub type MakeCluster =
    dyn Fn(&str, &ClusterSettings, Option<String>) -> Result<Arc<dyn Executor>, ClusterFault> + Send + Sync;
