//! The pipeline document, `apiVersion: cubeloom/v1`, `kind: Pipeline`: what a person writes, draws or posts.

mod schedule;
mod sizing;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::JsonMap;
use crate::canvas::Canvas;
use crate::hang::{HangAction, HangPolicy};
use crate::outcome::FailureKind;
use crate::preflight::PreflightUse;
use crate::priority::Priority;
use crate::quantity::Span;
use crate::resources::ResourceRequest;
use crate::search::Search;

pub use schedule::{After, Arrival, CatchUp, EndState, Schedule};
pub use sizing::SizingMode;

/// The version of documents that this build reads and writes.
pub const API_VERSION: &str = "cubeloom/v1";

/// Parameters by name, in the order of the document.
pub type Parameters = IndexMap<String, Parameter>;

/// A versioned document: tasks, the edges between them, parameters, schedule, placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Always `cubeloom/v1`.
    #[serde(rename = "apiVersion")]
    pub api_version: String,
    /// Always `Pipeline`.
    pub kind: String,
    /// The name: a DNS-1123 label.
    pub name: String,
    /// Description.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Free-form labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub labels: BTreeMap<String, String>,
    /// What a run can be started with.
    #[serde(skip_serializing_if = "Parameters::is_empty", default)]
    #[schemars(with = "BTreeMap<String, Parameter>")]
    pub parameters: Parameters,
    /// Variables of every task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub env: BTreeMap<String, String>,
    /// Maximum number of its jobs that run concurrently.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
    /// Maximum number of its runs that are active concurrently; others wait.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_active_runs: Option<u32>,
    /// A number or the name of a priority class; larger goes first, 0 when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority: Option<Priority>,
    /// Whether its jobs may be preempted by jobs of a higher priority; true when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preemptible: Option<bool>,
    /// When it runs automatically.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub schedule: Option<Schedule>,
    /// The cluster; the project's default when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cluster: Option<String>,
    /// Whether CPU and memory of its tasks are right-sized by usage, unless they say otherwise; the project's
    /// setting when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sizing: Option<SizingMode>,
    /// How its tasks are placed, unless they say otherwise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub placement: Option<Placement>,
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Its layout on the canvas, which does not affect runs.
    #[serde(skip_serializing_if = "Canvas::is_empty", default)]
    pub canvas: Canvas,
}

/// A typed parameter of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ParameterType,
    /// Its value when none is given; without one it must be given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub default: Option<Value>,
    /// Description.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// The only values allowed.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none", default)]
    pub choices: Option<Vec<Value>>,
    /// The smallest number allowed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub minimum: Option<f64>,
    /// The largest number allowed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub maximum: Option<f64>,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParameterType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A day, `YYYY-MM-DD`.
    Date,
    /// A list of anything.
    List,
    /// A mapping of anything.
    Object,
}

/// Numbers as written in a document, by JSON pointer, if JSON writes them differently: `1e-3` reaches a
/// command unchanged.
pub type Written = BTreeMap<String, String>;

// A document may have 100,000 tasks, most of them with few of the fields: the large fields are boxed.
/// One node of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The name: a DNS-1123 label, unique in the pipeline.
    pub name: String,
    /// The task template, `name` (its newest version) or `name@version`.
    pub template: String,
    /// Description of what it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// The template's arguments; strings may hold expressions.
    #[serde(skip_serializing_if = "JsonMap::is_empty", default)]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub arguments: JsonMap,
    /// Numbers of the arguments that JSON writes differently from the document.
    #[serde(skip)]
    #[schemars(skip)]
    pub written: Option<Box<Written>>,
    /// The tasks that come before it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub needs: Vec<String>,
    /// Resources of each worker; override the template's amounts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resources: Option<Box<ResourceRequest>>,
    /// The same, for single roles.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub role_resources: BTreeMap<String, ResourceRequest>,
    /// A command that runs once per worker, before the program.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub setup: Vec<String>,
    /// Environment variables; override the pipeline's and the template's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub env: BTreeMap<String, String>,
    /// Secrets, by name.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub secrets: Vec<SecretUse>,
    /// Volumes, by name.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub volumes: Vec<VolumeUse>,
    /// What happens after a failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retry: Option<Retry>,
    /// Timeout of one attempt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout: Option<Span>,
    /// When an attempt without new steps counts as hanging, and what happens then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hang: Option<HangRule>,
    /// Whether its workers get a preflight test before its program begins; overrides the template's setting.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preflight: Option<PreflightUse>,
    /// An expression; when it is false the task is skipped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub when: Option<String>,
    /// Which ends of the upstream tasks let it start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trigger: Option<TriggerRule>,
    /// One instance for each item.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub for_each: Option<Box<ForEach>>,
    /// One instance for each trial of a search.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub search: Option<Box<Search>>,
    /// Placement of its workers; overrides the pipeline's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub placement: Option<Box<Placement>>,
    /// A number or the name of a priority class; larger goes first; overrides the pipeline's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority: Option<Priority>,
    /// Whether its jobs may be preempted by jobs of a higher priority; overrides the pipeline's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preemptible: Option<bool>,
    /// Concurrency limits that it holds while it runs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub limits: Vec<String>,
    /// Minimum and maximum number of workers; overrides the template's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub elastic: Option<ElasticRange>,
    /// Whether CPU and memory are right-sized by usage; overrides the pipeline's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sizing: Option<SizingMode>,
    /// Outputs that the program must have written when it ends; a missing one fails the attempt.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outputs: Vec<String>,
    /// Whether the outputs of an equal earlier attempt are reused instead of running.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache: Option<Cache>,
}

/// A secret given to a task: `name`, or a mapping with details.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SecretUse {
    /// As an environment variable with the secret's own name, in upper case, with `-` as `_`.
    Name(String),
    /// As specified.
    Detailed {
        /// The secret's name.
        name: String,
        /// The environment variable with its value.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        env: Option<String>,
        /// The file with its value, in the worker's private folder.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        file: Option<String>,
    },
}

/// A volume given to a task: `name`, or a mapping with details.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum VolumeUse {
    /// Its folder is in `CUBELOOM_VOLUME_<NAME>`.
    Name(String),
    /// As specified.
    Detailed {
        /// The volume's name.
        name: String,
        /// Mount path in a container.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mount: Option<String>,
        /// Whether it is mounted read-only.
        #[serde(default)]
        read_only: bool,
    },
}

/// What happens after a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// Maximum number of attempts, including the first.
    pub attempts: u32,
    /// Delay before the next attempt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub backoff: Option<Backoff>,
    /// Which failures are retried; error, out_of_memory, lost and preempted when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub on: Option<Vec<RetryOn>>,
}

/// When an attempt counts as hanging, and what happens then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HangRule {
    /// A shorter time without a step is never a hang; 10 minutes when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<Span>,
    /// What happens; mark when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub action: Option<HangAction>,
    /// Maximum number of restarts of an instance because of it, not counted as attempts; 3 when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub restarts: Option<u32>,
}

impl HangRule {
    /// The policy, with defaults for absent fields.
    #[must_use]
    pub fn policy(&self) -> HangPolicy {
        let other = HangPolicy::default();
        HangPolicy {
            after: self.after.unwrap_or(other.after),
            action: self.action.unwrap_or(other.action),
            restarts: self.restarts.unwrap_or(other.restarts),
        }
    }
}

/// A growing delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backoff {
    /// Before the second attempt.
    pub initial: Span,
    /// Factor for each further attempt; 2 when absent, at least 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub factor: Option<f64>,
    /// Maximum delay; one hour when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max: Option<Span>,
}

/// A class of failures that can be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryOn {
    /// The program or its set-up failed, or it could not start.
    Error,
    /// It was OOM killed.
    OutOfMemory,
    /// It took longer than its timeout.
    Timeout,
    /// Its outcome is unknown.
    Lost,
    /// It was preempted by another job.
    Preempted,
}

impl RetryOn {
    /// The class that a failure belongs to.
    #[must_use]
    pub fn of(kind: FailureKind) -> Self {
        match kind {
            FailureKind::OutOfMemory => Self::OutOfMemory,
            FailureKind::Timeout => Self::Timeout,
            // The node was at fault, not the program.
            FailureKind::Lost | FailureKind::Preflight => Self::Lost,
            FailureKind::Preempted => Self::Preempted,
            FailureKind::Exit
            | FailureKind::Signal
            | FailureKind::SetupFailed
            | FailureKind::CouldNotStart
            | FailureKind::MissingOutput
            | FailureKind::Expression
            | FailureKind::Rejected
            | FailureKind::Run
            | FailureKind::DiskLimit
            | FailureKind::Hung => Self::Error,
        }
    }
}

/// Which ends of the upstream tasks let a task start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerRule {
    /// All succeeded.
    #[default]
    AllSuccess,
    /// All ended, in any state.
    AllDone,
    /// All failed.
    AllFailed,
    /// At least one failed; starts as soon as that is known.
    OneFailed,
    /// At least one succeeded; starts as soon as that is known.
    OneSuccess,
    /// All ended and none failed (skipped is fine).
    NoneFailed,
    /// All ended, none failed, at least one succeeded.
    NoneFailedMinOneSuccess,
}

/// One instance for each item of `list`, each combination of `matrix`, or each item that `from` yields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForEach {
    /// Items, or an expression that yields a list at planning.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub list: Option<Value>,
    /// Every combination of the values of each key.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matrix: Option<BTreeMap<String, Vec<Value>>>,
    /// An expression over upstream tasks' outputs that yields a list.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Maximum number of instances that run concurrently.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
}

/// Placement of workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// Anti-affinity between different tasks of one run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spread: Option<Spread>,
    /// Topology of the anti-affinity.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spread_by: Option<SpreadBy>,
    /// Placement of one task's workers relative to each other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub workers: Option<WorkerPlacement>,
    /// The node group.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node_group: Option<String>,
    /// Required node labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub selector: BTreeMap<String, String>,
    /// Tolerated taints.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tolerations: Vec<Toleration>,
    /// Whether workers use the node's own network.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host_network: Option<bool>,
}

/// Anti-affinity between different tasks of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// If possible.
    Preferred,
    /// Always; a task may wait for others of its run to end.
    Required,
    /// Off.
    None,
}

/// Topology of the anti-affinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpreadBy {
    /// The machine.
    Host,
    /// The zone.
    Zone,
}

/// Placement of one task's workers relative to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkerPlacement {
    /// Close together.
    Pack,
    /// Far apart.
    Spread,
}

/// A tolerated taint, in Kubernetes' format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Toleration {
    /// The taint's key.
    pub key: String,
    /// The taint's value; any when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<String>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`; any when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effect: Option<String>,
}

/// Minimum and maximum number of workers of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElasticRange {
    /// The minimum; with fewer it cannot run.
    pub min: u32,
    /// The maximum; more are not used.
    pub max: u32,
}

/// Whether an equal earlier attempt is reused: `true`, or a mapping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Cache {
    /// On or off.
    Enabled(bool),
    /// On, with files outside the pipeline's folder whose content counts too.
    Detailed {
        /// Paths or globs; may contain expressions.
        inputs: Vec<String>,
        /// Maximum age of a reused result; unlimited when absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        max_age: Option<Span>,
    },
}
