//! A job: what one attempt submits, the same for every kind of cluster, with every expression evaluated.

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

/// What one attempt submits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Attempt.
    pub key: AttemptKey,
    /// The outermost run, where a task of another run started its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub root: Option<RunId>,
    /// Project.
    pub project: String,
    /// Pipeline.
    pub pipeline: String,
    /// Whom it runs for, and whose own secrets it may use: who started the run or, since then, wanted it to go on.
    pub user: String,
    /// SHA-256 of the pipeline's folder, if the run came with one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// The framework: how workers learn who they are.
    pub framework: String,
    /// The template, `name@version`.
    pub template: String,
    /// SHA-256 of the template's folder.
    pub template_digest: String,
    /// The template's folder on the machine that planned.
    pub template_folder: String,
    /// Container image.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub image: Option<String>,
    /// The host of its registry, where the project has an account to pull it with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub registry: Option<String>,
    /// Whether its containers' root file system can be written to.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub writable_root: bool,
    /// The Python environment where there are no containers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub python: Option<PythonEnvironment>,
    /// The roles, in the framework's order: rank 0 is the first worker of the first role.
    pub roles: Vec<JobRole>,
    /// Runs once a worker, before the program.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub setup: Vec<String>,
    /// The variables that the document and the template give to every worker.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub env: BTreeMap<String, String>,
    /// Secrets.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub secrets: Vec<SecretMount>,
    /// Volumes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub volumes: Vec<VolumeMount>,
    /// When it has succeeded.
    pub success: SuccessRule,
    /// How many workers must start together, and must stay for the job to go on.
    pub gang: u32,
    /// How few and how many workers of the elastic role.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub elastic: Option<ElasticRange>,
    /// How long it may run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout: Option<Span>,
    /// Where its workers go.
    #[serde(default)]
    pub placement: Placement,
    /// Outputs that must have been written.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outputs: Vec<String>,
    /// The metric whose values are told while it runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub watches: Option<String>,
    /// Whether it is told that a worker has nearly used up its memory: its workers may get more while they run.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub grows: bool,
    /// How its workers are tested before its program begins, where they are.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preflight: Option<JobPreflight>,
    /// The run that it is, of another pipeline: then it has no workers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call: Option<Call>,
}

impl Job {
    /// The run whose tasks this one is kept apart from.
    #[must_use]
    pub fn root(&self) -> &RunId {
        self.root.as_ref().unwrap_or(&self.key.run)
    }

    /// The number of workers of all roles.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.roles.iter().map(|role| role.replicas).sum()
    }

    /// The number of processes of all workers.
    #[must_use]
    pub fn processes(&self) -> u32 {
        let of_role = |role: &JobRole| role.replicas.saturating_mul(role.resources.processes());
        self.roles.iter().map(of_role).fold(0, u32::saturating_add)
    }

    /// How many workers may be lost.
    #[must_use]
    pub fn spare(&self) -> u32 {
        if self.elastic.is_some() { self.workers().saturating_sub(self.gang) } else { 0 }
    }

    /// The same job with as many workers as it may ever have.
    #[must_use]
    pub fn at_most(mut self) -> Self {
        if let (Some(range), Some(role)) = (self.elastic, self.roles.last_mut()) {
            role.replicas = range.max;
        }
        self
    }

    /// The same job as an attempt gets it.
    #[must_use]
    pub fn sized(mut self, sizing: &AttemptSizing) -> Self {
        self.roles.iter_mut().for_each(|role| sizing.apply(&role.name, &mut role.resources));
        self.grows = sizing.grows;
        self
    }

    /// What all workers together hold.
    #[must_use]
    pub fn amount(&self) -> Amount {
        self.roles
            .iter()
            .fold(Amount::default(), |sum, role| sum.plus(Amount::of(&role.resources, role.replicas)))
    }

    /// The whole cards in it, by the type that is asked for.
    #[must_use]
    pub fn cards(&self) -> BTreeMap<String, u32> {
        resources::cards(self.roles.iter().map(|role| (&role.resources, role.replicas)))
    }
}

/// How a job's workers are tested before its program begins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobPreflight {
    /// How long they wait for each other.
    pub wait: Span,
    /// What each must come to.
    pub bounds: Bounds,
}

/// One role of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRole {
    /// Name.
    pub name: String,
    /// Number of workers.
    pub replicas: u32,
    /// What each runs; may hold `$(CUBELOOM_...)`, which lowering replaces.
    pub argv: Vec<String>,
    /// What each gets.
    pub resources: Resources,
}

/// When a job has succeeded. In every case a worker that fails, unless it is an elastic one that can be spared,
/// fails the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuccessRule {
    /// All workers ended with 0.
    AllWorkers,
    /// All workers of this role ended with 0; the others are then stopped.
    Role(String),
    /// The first worker of this role ended with 0; the others are then stopped.
    First(String),
    /// No live worker is left and at least one ended with 0.
    AnyWorker,
}

/// A Python environment: requirements installed once into a cached virtual environment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PythonEnvironment {
    /// The interpreter that it is made from, a name on the PATH or a path.
    pub interpreter: String,
    /// Pinned requirements, in the template's order.
    pub requirements: Vec<String>,
    /// Whether Debian's own packages are seen too.
    pub system_site_packages: bool,
    /// Packages that are there without being installed: what requires one of them gets no other.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub provided: Vec<String>,
    /// Packages that may be built from what the package index has of them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub builds: Vec<String>,
}

/// A secret given to a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretMount {
    /// The secret's name.
    pub name: String,
    /// The variable that holds it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub env: Option<String>,
    /// The file name, in the worker's private folder, that holds it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
}

/// A volume given to a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeMount {
    /// The volume's name.
    pub name: String,
    /// Where it appears in a container.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mount: Option<String>,
    /// Whether it may only be read.
    #[serde(default)]
    pub read_only: bool,
    /// Where it is, as was known when the run was planned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<VolumePlace>,
}

/// How long a worker has between TERM and KILL, unless configured otherwise.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(10);
