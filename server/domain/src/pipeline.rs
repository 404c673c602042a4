//! The pipeline document, `apiVersion: cubeloom/v1`, `kind: Pipeline`: what a person writes, draws or posts.

mod schedule;
mod sizing;

use std::collections::BTreeMap;

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
    /// Free labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub labels: BTreeMap<String, String>,
    /// What a run can be started with.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub parameters: BTreeMap<String, Parameter>,
    /// Variables of every task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub env: BTreeMap<String, String>,
    /// How many of its jobs may run at the same time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
    /// How many of its runs may be active at the same time; others wait.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_active_runs: Option<u32>,
    /// A number or the name of a priority class; larger goes first, 0 when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority: Option<Priority>,
    /// Whether its jobs may be preempted for others of a higher priority; true when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preemptible: Option<bool>,
    /// When it runs by itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub schedule: Option<Schedule>,
    /// The cluster; the project's default when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cluster: Option<String>,
    /// Whether CPU and memory of its tasks are chosen from real use, unless they say otherwise; the project's when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sizing: Option<SizingMode>,
    /// How its tasks are placed, unless they say otherwise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub placement: Option<Placement>,
    /// The tasks.
    pub tasks: Vec<Task>,
    /// How it is drawn; nothing that runs depends on it.
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

/// Numbers as they stand in a document, by JSON pointer, where JSON writes them in another way: `1e-3` becomes the word of a
/// command as it is.
pub type Written = BTreeMap<String, String>;

// A document may hold 100,000, most of which have few of the fields: the large ones are boxed.
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
    /// Numbers of the arguments that JSON writes in another way than the document.
    #[serde(skip)]
    #[schemars(skip)]
    pub written: Option<Box<Written>>,
    /// The tasks that come before it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub needs: Vec<String>,
    /// What each worker gets; over the template's amounts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resources: Option<Box<ResourceRequest>>,
    /// The same, for single roles.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub role_resources: BTreeMap<String, ResourceRequest>,
    /// A command that runs once a worker, before the program.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub setup: Vec<String>,
    /// Variables; over the pipeline's and the template's.
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
    /// How long one attempt may run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout: Option<Span>,
    /// When an attempt that reports no more steps hangs, and what is done about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hang: Option<HangRule>,
    /// Whether its workers are tested before its program begins; over the template's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preflight: Option<PreflightUse>,
    /// An expression; when it is false the task is skipped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub when: Option<String>,
    /// Which ends of the needed tasks let it start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trigger: Option<TriggerRule>,
    /// One instance for each element.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub for_each: Option<Box<ForEach>>,
    /// One instance for each trial of a search.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub search: Option<Box<Search>>,
    /// Where its workers go; over the pipeline's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub placement: Option<Box<Placement>>,
    /// A number or the name of a priority class; larger goes first; over the pipeline's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority: Option<Priority>,
    /// Whether its jobs may be preempted for others of a higher priority; over the pipeline's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preemptible: Option<bool>,
    /// Named limits that it holds while it runs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub limits: Vec<String>,
    /// How few and how many workers; over the template's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub elastic: Option<ElasticRange>,
    /// Whether CPU and memory are chosen from real use; over the pipeline's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sizing: Option<SizingMode>,
    /// Outputs that the program must have written when it ends; a missing one fails the attempt.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outputs: Vec<String>,
    /// Whether the outputs of an equal earlier attempt are taken instead of running.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache: Option<Cache>,
}

/// A secret given to a task: `name`, or a mapping that says how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SecretUse {
    /// As a variable of the secret's own name, upper-cased, `-` as `_`.
    Name(String),
    /// As said.
    Detailed {
        /// The secret's name.
        name: String,
        /// The variable that holds it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        env: Option<String>,
        /// The file name, in the worker's private folder, that holds it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        file: Option<String>,
    },
}

/// A volume given to a task: `name`, or a mapping that says where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum VolumeUse {
    /// Its folder is in `CUBELOOM_VOLUME_<NAME>`.
    Name(String),
    /// As said.
    Detailed {
        /// The volume's name.
        name: String,
        /// Where it appears in a container.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mount: Option<String>,
        /// Whether it may only be read.
        #[serde(default)]
        read_only: bool,
    },
}

/// What happens after a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// How many attempts there are in all, the first included.
    pub attempts: u32,
    /// How long to wait before the next.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub backoff: Option<Backoff>,
    /// Which failures are retried; error, out_of_memory, lost and preempted when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub on: Option<Vec<RetryOn>>,
}

/// When an attempt hangs, and what is done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HangRule {
    /// A shorter time without a step is never a hang; 10 minutes when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after: Option<Span>,
    /// What is done; mark when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub action: Option<HangAction>,
    /// How often an instance is started again for it, not counted as attempts; 3 when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub restarts: Option<u32>,
}

impl HangRule {
    /// With what holds where nothing is said.
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

/// A wait that grows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backoff {
    /// Before the second attempt.
    pub initial: Span,
    /// How much longer each time; 2 when absent, at least 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub factor: Option<f64>,
    /// At the most; one hour when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max: Option<Span>,
}

/// A class of failures that can be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryOn {
    /// The program or its set-up failed, or it could not start.
    Error,
    /// It used more memory than it had.
    OutOfMemory,
    /// It took longer than its timeout.
    Timeout,
    /// Nobody knows how it ended.
    Lost,
    /// Its place was needed for another job.
    Preempted,
}

impl RetryOn {
    /// The class that a failure belongs to.
    #[must_use]
    pub fn of(kind: FailureKind) -> Self {
        match kind {
            FailureKind::OutOfMemory => Self::OutOfMemory,
            FailureKind::Timeout => Self::Timeout,
            // A node was bad, not the program.
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

/// Which ends of the needed tasks let a task start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerRule {
    /// All succeeded.
    #[default]
    AllSuccess,
    /// All ended, however.
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

/// One instance for each element of `list`, each combination of `matrix`, or each element that `from` yields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForEach {
    /// Elements, or an expression that yields a list at planning.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub list: Option<Value>,
    /// Every combination of the values of each key.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matrix: Option<BTreeMap<String, Vec<Value>>>,
    /// An expression over earlier tasks' outputs that yields a list.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// How many instances may run at the same time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
}

/// Where workers go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// Whether different tasks of one run are kept apart.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spread: Option<Spread>,
    /// Apart by what.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spread_by: Option<SpreadBy>,
    /// How the workers of one task lie to each other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub workers: Option<WorkerPlacement>,
    /// The node group.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node_group: Option<String>,
    /// Labels that a node must have.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub selector: BTreeMap<String, String>,
    /// Taints that are tolerated.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tolerations: Vec<Toleration>,
    /// Whether workers use the node's own network.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host_network: Option<bool>,
}

/// Whether different tasks of one run are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Where it is possible.
    Preferred,
    /// Always; a task may wait for others of its run to end.
    Required,
    /// No.
    None,
}

/// What tasks are kept apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpreadBy {
    /// The machine.
    Host,
    /// The zone.
    Zone,
}

/// How the workers of one task lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkerPlacement {
    /// Close together.
    Pack,
    /// Far apart.
    Spread,
}

/// A taint that is tolerated, as Kubernetes writes it.
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

/// How few and how many workers a job can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElasticRange {
    /// Fewer cannot work.
    pub min: u32,
    /// More are not used.
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
        /// Paths or globs; an expression may stand in them.
        inputs: Vec<String>,
        /// How long a result may be reused; for ever when absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        max_age: Option<Span>,
    },
}
