//! A job: what one attempt submits, with every expression evaluated. It is the same for every kind of
//! cluster.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::belongings::VolumePlace;
use crate::call::Call;
use crate::ids::{AttemptKey, RunId};
use crate::pipeline::{ElasticRange, Placement};
use crate::preflight::Bounds;
use crate::quantity::Span;
use crate::resources::{self, Amount, Resources};
use crate::sizing::AttemptSizing;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub key: AttemptKey,
    /// The outermost run, if a task of another run started this one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub root: Option<RunId>,
    pub project: String,
    pub pipeline: String,
    /// The user that it runs as, and whose own secrets it may use: the one who started the run or last
    /// resumed it.
    pub user: String,
    /// SHA-256 of the pipeline's folder, if the run came with one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// The framework, which determines how workers learn their rank and peers.
    pub framework: String,
    /// The template, `name@version`.
    pub template: String,
    /// SHA-256 of the template's folder.
    pub template_digest: String,
    /// The template's folder on the machine that created the plan.
    pub template_folder: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub image: Option<String>,
    /// The host of the image's registry, if the project has a pull account there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub registry: Option<String>,
    /// Whether its containers' root file system is writable.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub writable_root: bool,
    /// The Python environment, for running without containers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub python: Option<PythonEnvironment>,
    /// The roles, in the framework's order: rank 0 is the first worker of the first role.
    pub roles: Vec<JobRole>,
    /// Runs once per worker, before the program.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub setup: Vec<String>,
    /// Environment variables from the document and the template, for every worker.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub secrets: Vec<SecretMount>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub volumes: Vec<VolumeMount>,
    /// When the job counts as successful.
    pub success: SuccessRule,
    /// How many workers must start together, and must stay for the job to continue.
    pub gang: u32,
    /// Minimum and maximum number of workers of the elastic role.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub elastic: Option<ElasticRange>,
    /// Its timeout.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout: Option<Span>,
    /// Placement of its workers.
    #[serde(default)]
    pub placement: Placement,
    /// Required outputs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outputs: Vec<String>,
    /// The metric whose values are reported while it runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub watches: Option<String>,
    /// Whether workers close to their memory limit are reported: they may get more while they run.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub grows: bool,
    /// Preflight test of its workers. `None` if they are not tested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preflight: Option<JobPreflight>,
    /// The run of another pipeline that it starts. It has no workers then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call: Option<Call>,
}

impl Job {
    /// The run that anti-affinity applies to.
    #[must_use]
    pub fn root(&self) -> &RunId {
        self.root.as_ref().unwrap_or(&self.key.run)
    }

    /// Number of workers of all roles.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.roles.iter().map(|role| role.replicas).sum()
    }

    /// Number of processes of all workers.
    #[must_use]
    pub fn processes(&self) -> u32 {
        let of_role = |role: &JobRole| role.replicas.saturating_mul(role.resources.processes());
        self.roles.iter().map(of_role).fold(0, u32::saturating_add)
    }

    /// Number of workers that may be lost.
    #[must_use]
    pub fn spare(&self) -> u32 {
        if self.elastic.is_some() { self.workers().saturating_sub(self.gang) } else { 0 }
    }

    /// The same job with its maximum number of workers.
    #[must_use]
    pub fn at_most(mut self) -> Self {
        if let (Some(range), Some(role)) = (self.elastic, self.roles.last_mut()) {
            role.replicas = range.max;
        }
        self
    }

    /// The same job with the resources that an attempt gets.
    #[must_use]
    pub fn sized(mut self, sizing: &AttemptSizing) -> Self {
        self.roles.iter_mut().for_each(|role| sizing.apply(&role.name, &mut role.resources));
        self.grows = sizing.grows;
        self
    }

    /// Total amount of all workers.
    #[must_use]
    pub fn amount(&self) -> Amount {
        self.roles
            .iter()
            .fold(Amount::default(), |sum, role| sum.plus(Amount::of(&role.resources, role.replicas)))
    }

    /// The whole GPUs in it, by requested type.
    #[must_use]
    pub fn cards(&self) -> BTreeMap<String, u32> {
        resources::cards(self.roles.iter().map(|role| (&role.resources, role.replicas)))
    }
}

/// Preflight test of a job's workers, before its program begins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobPreflight {
    /// How long they wait for each other.
    pub wait: Span,
    /// Bounds for each.
    pub bounds: Bounds,
}

/// A role of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRole {
    pub name: String,
    pub replicas: u32,
    /// Command of each worker; may contain `$(CUBELOOM_...)`, which lowering replaces.
    pub argv: Vec<String>,
    /// Resources of each worker.
    pub resources: Resources,
}

/// When a job counts as successful. In every case a worker that fails also fails the job, unless it is a
/// spare elastic worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuccessRule {
    /// All workers exited with 0.
    AllWorkers,
    /// All workers of this role exited with 0; the others are then stopped.
    Role(String),
    /// The first worker of this role exited with 0; the others are then stopped.
    First(String),
    /// No live worker is left, and at least one exited with 0.
    AnyWorker,
}

/// A Python environment: requirements installed once into a cached virtual environment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PythonEnvironment {
    /// The base interpreter, a name on the PATH or a path.
    pub interpreter: String,
    /// Pinned requirements, in the template's order.
    pub requirements: Vec<String>,
    /// Whether Debian's own packages are visible, too.
    pub system_site_packages: bool,
    /// Packages that exist without installation: a requirement on one of them installs no other version.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub provided: Vec<String>,
    /// Packages that may be built from their source in the package index.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub builds: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretMount {
    pub name: String,
    /// The environment variable with its value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub env: Option<String>,
    /// The file with its value, in the worker's private folder.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeMount {
    pub name: String,
    /// Mount path in a container.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mount: Option<String>,
    /// Whether it is mounted read-only.
    #[serde(default)]
    pub read_only: bool,
    /// Its location, as known when the run was planned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<VolumePlace>,
}

/// The default time between TERM and KILL.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(10);
