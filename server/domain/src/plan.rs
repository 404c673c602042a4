//! The RunPlan: what a run will do, with everything resolved that can be known before it starts.
//!
//! It is immutable once stored, and leaves the engine no meaningful choice. Only arguments, env, `when` and
//! `for_each` may still contain expressions: those that read outputs of upstream tasks, or the item of
//! `for_each`. They are stored as their source ([`Late::Source`]) and evaluated once, when the task is ready.

use std::collections::BTreeMap;

use litemap::LiteMap;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::JsonMap;
use crate::clock::Timestamp;
use crate::hang::HangPolicy;
use crate::ids::{RunId, TaskIx};
use crate::job::{PythonEnvironment, SecretMount, SuccessRule, VolumeMount};
use crate::pipeline::{ElasticRange, Placement, RetryOn, SizingMode, TriggerRule};
use crate::preflight::PreflightPolicy;
use crate::quantity::Span;
use crate::quota::Pool;
use crate::resources::Resources;
use crate::search::PlannedSearch;
use crate::sizing::{AttemptSizing, Kept};

/// Context of a run, as expressions (`run.id`, `run.date`, ...) and workers see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunContext {
    pub id: RunId,
    /// The outermost run, if a task of another run started this one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub root: Option<RunId>,
    pub project: String,
    /// The user who started it.
    pub user: String,
    /// The logical date: its schedule's, or the creation time.
    pub date: Timestamp,
    /// IANA time zone of `run.date`, from the pipeline's schedule. `None` means UTC.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timezone: Option<String>,
    /// SHA-256 of the pipeline's folder as it was when the run was started, if it came with one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
}

impl RunContext {
    /// The run that anti-affinity applies to.
    #[must_use]
    pub fn root(&self) -> &RunId {
        self.root.as_ref().unwrap_or(&self.id)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// Context of the run.
    pub context: RunContext,
    pub pipeline: String,
    pub parameters: JsonMap,
    /// The target cluster.
    pub cluster: String,
    /// The target chosen for this run only, overriding its pipeline's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<Pool>,
    /// Maximum number of its jobs that run concurrently.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
    /// Maximum number of active runs of the pipeline.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_active_runs: Option<u32>,
    /// The chosen part of the pipeline. `None` if it is the complete pipeline.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<PlannedPart>,
    /// The templates of its tasks, without duplicates.
    pub templates: Vec<PlannedTemplate>,
    /// Tasks, in document order.
    pub tasks: Vec<PlannedTask>,
}

/// The tasks of a pipeline that a run was requested for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// This task only.
    Only(String),
    /// This task and all tasks downstream of it.
    From(String),
    /// These tasks, and all tasks downstream of them: what an earlier run has not finished, or what has
    /// changed since. All others reuse the results of that run.
    Rest(Vec<String>),
}

impl Choice {
    /// The named tasks.
    #[must_use]
    pub fn tasks(&self) -> &[String] {
        match self {
            Self::Only(task) | Self::From(task) => std::slice::from_ref(task),
            Self::Rest(tasks) => tasks,
        }
    }
}

/// A run of part of a pipeline. Its plan has the chosen tasks and all upstream of them, or all tasks if it
/// completes an earlier run. The results of the other tasks are reused from an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedPart {
    #[serde(flatten)]
    pub choice: Choice,
    /// The run whose upstream results are reused. `None` without upstream tasks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub of: Option<RunId>,
    /// Whether that run has a folder, whose files must be in this run's before any task starts.
    #[serde(default)]
    pub folder: bool,
}

/// A template's part of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedTemplate {
    pub name: String,
    pub version: String,
    /// SHA-256 of its folder.
    pub digest: String,
    pub folder: String,
    pub framework: String,
    /// The container image. `None` if each task has its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub image: Option<String>,
    /// The host of the image's registry, if the project has a pull account there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub registry: Option<String>,
    /// Whether its containers' root file system is writable.
    #[serde(skip_serializing_if = "is_default", default)]
    pub writable_root: bool,
    /// Each worker's command, with unevaluated expressions.
    pub command: Vec<String>,
    /// Commands of roles that differ.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub role_commands: BTreeMap<String, Vec<String>>,
    /// Arguments with a file of the pipeline's folder as their value.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub path_arguments: Vec<String>,
    /// The arguments' JSON Schema. Kept if any of its tasks has arguments that are known only when it is
    /// ready.
    #[serde(skip_serializing_if = "Value::is_null", default)]
    pub parameters: Value,
}

/// A value known at planning, or the source of one that is known later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Late {
    Value(Value),
    /// The value as written; its strings contain expressions over `tasks` or `item`.
    Source(Value),
}

/// Values by name. A B-tree allocates space for eleven entries per node, and a plan can have 100,000 tasks
/// with one argument.
pub type LateMap = LiteMap<String, Late>;

/// A task's part of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedTask {
    pub name: String,
    /// Index of its template in [`RunPlan::templates`].
    pub template: u32,
    /// Tasks that it depends on.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub needs: Vec<TaskIx>,
    /// The direct and indirect upstream tasks whose outputs its expressions read.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reads: Vec<TaskIx>,
    /// Which ends of its upstream tasks let it start.
    #[serde(skip_serializing_if = "is_default", default)]
    pub trigger: TriggerRule,
    /// Its condition.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub when: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub for_each: Option<PlannedForEach>,
    /// The arguments, including defaults.
    pub arguments: LateMap,
    /// Merged environment variables of pipeline, template and task.
    #[serde(skip_serializing_if = "LateMap::is_empty", default)]
    pub env: LateMap,
    /// Whether it is an approval, without a job. It has no roles then.
    #[serde(skip_serializing_if = "is_default", default)]
    pub asks: bool,
    /// Whether it starts a run of another pipeline. It has no roles then, either.
    #[serde(skip_serializing_if = "is_default", default)]
    pub calls: bool,
    #[serde(deserialize_with = "tight")]
    pub roles: Vec<PlannedRole>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub setup: Vec<String>,
    /// The Python environment, for running without containers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub python: Option<PythonEnvironment>,
    /// Its own image, if the template takes one from the arguments.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub image: Option<PlannedImage>,
    /// When the job counts as successful.
    pub success: SuccessRule,
    /// How many workers must start together: all of them, `min` of an elastic job, or 1 without a gang.
    pub gang: u32,
    /// Minimum and maximum number of workers of the elastic role.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub elastic: Option<ElasticRange>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub secrets: Vec<SecretMount>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub volumes: Vec<VolumeMount>,
    /// Retry policy.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retry: Option<RetryPolicy>,
    /// Timeout of one attempt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout: Option<Span>,
    /// When an attempt hangs, and what happens then.
    #[serde(skip_serializing_if = "is_default", default)]
    pub hang: HangPolicy,
    /// Preflight test of its workers. `None` if they are not tested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preflight: Option<PreflightPolicy>,
    /// Larger goes first.
    #[serde(skip_serializing_if = "is_default", default)]
    pub priority: i32,
    /// Whether jobs of a lower priority are preempted for it.
    #[serde(skip_serializing_if = "is_default", default)]
    pub preempts: bool,
    /// Whether jobs of a higher priority may not preempt it.
    #[serde(skip_serializing_if = "is_default", default)]
    pub protected: bool,
    /// Concurrency limits that each of its jobs holds while it runs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub limits: Vec<String>,
    /// Placement of its workers.
    #[serde(skip_serializing_if = "is_default", default)]
    pub placement: Placement,
    /// Whether CPU and memory are right-sized by usage. `None` means that the project decides.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sizing: Option<SizingMode>,
    /// Required outputs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outputs: Vec<String>,
    /// Whether an equal earlier attempt is reused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache: Option<CachePolicy>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedImage {
    pub name: String,
    /// The host of its registry, if the project has a pull account there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub registry: Option<String>,
}

/// `serde(skip_serializing_if)` for fields with a common default: plans can have 100,000 tasks.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A list without spare capacity. serde reserves space for four elements, but most tasks have one: 45 MB for
/// 100,000 tasks.
fn tight<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Ok(Box::<[T]>::deserialize(deserializer)?.into_vec())
}

/// A role's part of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRole {
    pub name: String,
    /// Number of workers; of an elastic role, `max`.
    pub replicas: u32,
    /// Resources of each.
    pub resources: Resources,
    /// Amounts that right-sizing does not change.
    #[serde(skip_serializing_if = "is_default", default)]
    pub kept: Kept,
}

/// One instance for each item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedForEach {
    /// The items, or the expression that yields them.
    pub items: ForEachItems,
    /// Maximum number of instances that run concurrently.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
}

/// The items of a `for_each`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForEachItems {
    /// Known at planning.
    Known(Vec<Value>),
    /// An expression over outputs of upstream tasks.
    Expression(String),
    /// The trials of a search. Their number may grow while they run.
    Search(Box<PlannedSearch>),
}

/// Retry policy, with all defaults resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// Maximum number of attempts.
    pub attempts: u32,
    /// Delay before the second attempt.
    pub initial: Span,
    /// Factor for each further attempt.
    pub factor: f64,
    /// Maximum delay.
    pub max: Span,
    /// Failures that are retried.
    pub on: Vec<RetryOn>,
}

/// Whether an equal earlier attempt is reused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CachePolicy {
    /// Paths or globs whose content is part of the key.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inputs: Vec<String>,
    /// Maximum age of a result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_age: Option<Span>,
}

impl PlannedTask {
    /// The workers that it needs to start: each role's resources and count. The elastic one is last, with
    /// `min`.
    pub fn least(&self) -> impl Iterator<Item = (&Resources, u32)> {
        let last = self.roles.len().saturating_sub(1);
        self.roles.iter().enumerate().map(move |(at, role)| {
            let fewest = self.elastic.filter(|_| at == last).map(|range| range.min);
            (&role.resources, fewest.unwrap_or(role.replicas))
        })
    }

    /// The same task with the resources that an attempt gets.
    #[must_use]
    pub fn sized(&self, sizing: &AttemptSizing) -> Self {
        let mut sized = self.clone();
        sized.roles.iter_mut().for_each(|role| sizing.apply(&role.name, &mut role.resources));
        sized
    }

    /// How many of this many workers are of its elastic role, the last one. 0 without one.
    #[must_use]
    pub fn elastic_of(&self, workers: u32) -> u32 {
        let others: u32 = self.roles.iter().rev().skip(1).map(|role| role.replicas).sum();
        self.elastic.map_or(0, |_| workers.saturating_sub(others))
    }

    /// How many of this many workers are of this role.
    #[must_use]
    pub fn workers_of(&self, role: &str, workers: u32) -> u32 {
        match self.roles.iter().position(|one| one.name == role) {
            Some(at) if at + 1 == self.roles.len() && self.elastic.is_some() => self.elastic_of(workers),
            Some(at) => self.roles[at].replicas,
            None => 0,
        }
    }

    /// The search with its instances as trials.
    #[must_use]
    pub fn search(&self) -> Option<&PlannedSearch> {
        match self.for_each.as_ref().map(|each| &each.items) {
            Some(ForEachItems::Search(search)) => Some(search),
            _ => None,
        }
    }
}

impl RunPlan {
    /// The task at an index.
    #[must_use]
    pub fn task(&self, ix: TaskIx) -> &PlannedTask {
        &self.tasks[ix.index()]
    }

    #[must_use]
    pub fn template_of(&self, task: &PlannedTask) -> &PlannedTemplate {
        &self.templates[task.template as usize]
    }

    /// The index of the task with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<TaskIx> {
        self.tasks.iter().position(|task| task.name == name).and_then(|at| u32::try_from(at).ok()).map(TaskIx)
    }
}
