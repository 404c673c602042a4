//! Lowered jobs: plain data in the form that one kind of cluster accepts, and bindings that are known only at
//! submission.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ids::{AttemptKey, RunId};
use crate::job::{PythonEnvironment, SecretMount, SuccessRule};
use crate::kubernetes::{KubernetesFacts, KubernetesJob};
use crate::outcome::WorkerName;
use crate::quantity::{Bytes, Cpu};
use crate::slurm::{SlurmFacts, SlurmJob};

/// What is known only at submission. Stored with the attempt before it is submitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Bindings {
    /// For processes on this machine.
    Local(LocalBindings),
    /// For a Kubernetes cluster.
    Kubernetes(Box<KubernetesBindings>),
    /// For a Slurm cluster.
    Slurm(Box<SlurmBindings>),
    /// For a run of another pipeline: the run's id.
    Run {
        /// The id that the run gets.
        run: RunId,
    },
    /// For an executor without bindings.
    None,
}

impl Bindings {
    /// The name of the cluster that a job was bound to. `None` for this machine.
    #[must_use]
    pub fn cluster(&self) -> Option<&str> {
        match self {
            Self::Kubernetes(bound) => Some(&bound.cluster),
            Self::Slurm(bound) => Some(&bound.cluster),
            Self::Local(_) | Self::Run { .. } | Self::None => None,
        }
    }

    /// The bindings of the same job with only its first `workers` workers.
    #[must_use]
    pub fn of_first(&self, workers: u32) -> Self {
        let mut first = self.clone();
        if let Self::Local(local) = &mut first {
            local.workers.truncate(workers as usize);
        }
        first
    }
}

/// A job in the form that one kind of cluster accepts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Lowered {
    /// Processes on this machine.
    Local(LocalJob),
    /// Manifests for a Kubernetes cluster.
    Kubernetes(KubernetesJob),
    /// The script of a Slurm cluster, and its processes.
    Slurm(Box<SlurmJob>),
    /// The executor uses the job itself.
    None,
}

impl Lowered {
    /// The lowered job as readable data. `None` if the executor gets none.
    #[must_use]
    pub fn object(&self) -> Option<Value> {
        match self {
            Self::Local(job) => Some(json!(job)),
            Self::Kubernetes(job) => Some(json!(job)),
            Self::Slurm(job) => Some(json!(job)),
            Self::None => None,
        }
    }
}

/// The target Kubernetes cluster of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KubernetesBindings {
    pub cluster: String,
    /// What was known of it, for the job's project, when the attempt was created. The manifests depend on
    /// nothing else.
    pub facts: KubernetesFacts,
}

/// The target Slurm cluster of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlurmBindings {
    pub cluster: String,
    /// What was known of it, for the job's project, when the attempt was created. The script depends on
    /// nothing else.
    pub facts: SlurmFacts,
    /// The account that mirrored the project's quota then. The job is submitted for it, whatever the script
    /// says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub counted_as: Option<String>,
}

/// Addresses, ports, devices and folders on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalBindings {
    /// One per worker, in rank order.
    pub workers: Vec<WorkerBinding>,
    pub paths: LocalPaths,
}

/// Bindings of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerBinding {
    /// Its own loopback address.
    pub address: String,
    /// An exclusive port: libraries that bind to the wildcard address need one.
    pub port: u16,
    /// More exclusive ports: for its processes other than the first, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ports: Vec<u16>,
    /// The GPUs, by UUID.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub gpus: Vec<String>,
}

/// Absolute folders and files on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalPaths {
    /// The project's shared storage.
    pub workspace: String,
    /// The run's folder on it.
    pub run_dir: String,
    /// The attempt's own folder, with `<worker>/{work,outputs.jsonl,stdout,...}` below it.
    pub attempt_dir: String,
    /// Shared by all attempts of an instance.
    pub checkpoint_dir: String,
    /// A read-only copy of the pipeline's folder. Empty if the run has none.
    pub code: String,
    /// The template's folder, readable by workers.
    pub template_dir: String,
    /// The `cubeloom` program itself.
    pub bin: String,
    /// Folders of the job's volumes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub volumes: BTreeMap<String, String>,
}

/// Processes on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalJob {
    pub key: AttemptKey,
    /// The project, which determines the uid.
    pub project: String,
    /// The Python environment that must be created first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub python: Option<PythonEnvironment>,
    /// Folders that must exist and belong to the project's uid before anything starts.
    pub folders: Vec<String>,
    /// The workers, in rank order.
    pub workers: Vec<LocalWorker>,
    /// When the job counts as successful.
    pub success: SuccessRule,
    /// How many workers must stay.
    pub gang: u32,
    /// Required outputs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outputs: Vec<String>,
}

/// One process on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalWorker {
    pub name: WorkerName,
    /// Rank across all roles.
    pub rank: u32,
    /// Its own folder, absolute.
    pub folder: String,
    /// The working directory, below the folder.
    pub cwd: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Runs first. Its failure is a separate outcome.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub setup: Vec<String>,
    /// All variables; nothing is inherited.
    pub env: BTreeMap<String, String>,
    /// Secrets, resolved by the executor and never stored.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub secrets: Vec<SecretMount>,
    /// Files written before it starts: path relative to the folder -> content (a hostfile, ...).
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub files: BTreeMap<String, String>,
    /// Guaranteed CPU.
    pub cpu: Cpu,
    /// CPU limit, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_limit: Option<Cpu>,
    /// Whether it has dedicated (pinned) CPUs.
    #[serde(default)]
    pub cpu_exclusive: bool,
    pub memory: Bytes,
    /// Shared memory limit, as part of the memory, if the document sets one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shm: Option<Bytes>,
    /// The absolute path of the file for its outputs.
    pub outputs_file: String,
}
