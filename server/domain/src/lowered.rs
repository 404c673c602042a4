//! Lowered jobs: plain data that one kind of cluster takes as it is, and the bindings that only submission knows.

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
    /// For a run of another pipeline: the id that it gets.
    Run {
        /// ID.
        run: RunId,
    },
    /// For an executor that needs none.
    None,
}

impl Bindings {
    /// The name of the cluster that a job was bound to, where that is another than this machine.
    #[must_use]
    pub fn cluster(&self) -> Option<&str> {
        match self {
            Self::Kubernetes(bound) => Some(&bound.cluster),
            Self::Slurm(bound) => Some(&bound.cluster),
            Self::Local(_) | Self::Run { .. } | Self::None => None,
        }
    }

    /// Those of a job that has only the first workers, so many.
    #[must_use]
    pub fn of_first(&self, workers: u32) -> Self {
        let mut first = self.clone();
        if let Self::Local(local) = &mut first {
            local.workers.truncate(workers as usize);
        }
        first
    }
}

/// A job in the form that one kind of cluster takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Lowered {
    /// Processes on this machine.
    Local(LocalJob),
    /// Objects of a Kubernetes cluster.
    Kubernetes(KubernetesJob),
    /// The script of a Slurm cluster, and its processes.
    Slurm(Box<SlurmJob>),
    /// Nothing: the executor reads the job itself.
    None,
}

impl Lowered {
    /// It as plain data, for people to read; none where the executor is given nothing.
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

/// The Kubernetes cluster that a job goes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KubernetesBindings {
    /// Name.
    pub cluster: String,
    /// What was known of it, for the job's project, when the attempt was made: from it alone follow the objects.
    pub facts: KubernetesFacts,
}

/// The Slurm cluster that a job goes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlurmBindings {
    /// Name.
    pub cluster: String,
    /// What was known of it, for the job's project, when the attempt was made: from it alone follows the script.
    pub facts: SlurmFacts,
    /// The account that was kept for the project's quota then, for which the job is submitted whatever the script says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub counted_as: Option<String>,
}

/// Addresses, ports, devices and folders on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalBindings {
    /// One for each worker, in rank order.
    pub workers: Vec<WorkerBinding>,
    /// Where things lie.
    pub paths: LocalPaths,
}

/// What one worker is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerBinding {
    /// Its own loopback address.
    pub address: String,
    /// A port that nobody else was given: libraries that bind to the wildcard address need one.
    pub port: u16,
    /// More such ports: those of its processes but the first, where it is several.
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
    /// The attempt's own folder: `<worker>/{work,outputs.jsonl,stdout,...}` below it.
    pub attempt_dir: String,
    /// The same for all attempts of one instance.
    pub checkpoint_dir: String,
    /// A read-only copy of the pipeline's folder; empty when the run came without one.
    pub code: String,
    /// The template's folder, readable by workers.
    pub template_dir: String,
    /// The `cubeloom` program itself.
    pub bin: String,
    /// Folders of the volumes that the job names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub volumes: BTreeMap<String, String>,
}

/// Processes on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalJob {
    /// Attempt.
    pub key: AttemptKey,
    /// The project, which decides the uid.
    pub project: String,
    /// The Python environment that must be made first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub python: Option<PythonEnvironment>,
    /// Folders that must exist and belong to the project's uid before anything starts.
    pub folders: Vec<String>,
    /// The workers, in rank order.
    pub workers: Vec<LocalWorker>,
    /// When the job has succeeded.
    pub success: SuccessRule,
    /// How many workers must stay.
    pub gang: u32,
    /// Outputs that must have been written.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outputs: Vec<String>,
}

/// One process on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalWorker {
    /// Name.
    pub name: WorkerName,
    /// Rank across all roles.
    pub rank: u32,
    /// Its own folder, absolute.
    pub folder: String,
    /// The working directory, below the folder.
    pub cwd: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Runs first; its failure is an outcome of its own.
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
    /// The CPU that it is guaranteed.
    pub cpu: Cpu,
    /// The CPU that it never exceeds, where there is such a limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_limit: Option<Cpu>,
    /// Whether it has whole cores of its own.
    #[serde(default)]
    pub cpu_exclusive: bool,
    /// The memory limit.
    pub memory: Bytes,
    /// How much of that shared memory may take, where the document says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shm: Option<Bytes>,
    /// The file that it appends outputs to, absolute.
    pub outputs_file: String,
}
