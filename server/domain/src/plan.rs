//! The RunPlan: what a run will do, with everything resolved that can be known before it starts.
//!
//! It is immutable once stored, and leaves the engine no meaningful choice. Only arguments, env, `when` and
//! `for_each` may still hold expressions, namely those that read outputs of earlier tasks or the element of
//! `for_each`; they are kept as their source ([`Late::Source`]) and evaluated once, when the task is ready.

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

/// What a run is, as expressions see it (`run.id`, `run.date`, ...) and as workers are told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunContext {
    /// Run.
    pub id: RunId,
    /// The outermost run, where a task of another run started this one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub root: Option<RunId>,
    /// The project's name.
    pub project: String,
    /// Who started it.
    pub user: String,
    /// The moment that the run stands for: its schedule's, or that of its creation.
    pub date: Timestamp,
    /// IANA name of the time zone in which `run.date` is: that of its pipeline's schedule; absent: UTC.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timezone: Option<String>,
    /// SHA-256 of the pipeline's folder as it was when the run was started, if it came with one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
}

impl RunContext {
    /// The run whose tasks are kept apart together with this one's.
    #[must_use]
    pub fn root(&self) -> &RunId {
        self.root.as_ref().unwrap_or(&self.id)
    }
}

/// What a run will do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// What the run is.
    pub context: RunContext,
    /// Name of the pipeline.
    pub pipeline: String,
    /// The values of its parameters.
    pub parameters: JsonMap,
    /// The cluster that it runs on.
    pub cluster: String,
    /// The place that was chosen for this run alone, instead of its pipeline's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<Pool>,
    /// How many of its jobs may run at the same time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
    /// How many runs of the pipeline may be active at the same time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_active_runs: Option<u32>,
    /// Which part of the pipeline it is, where it is not the whole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<PlannedPart>,
    /// The templates that its tasks use, each once.
    pub templates: Vec<PlannedTemplate>,
    /// Tasks, in document order.
    pub tasks: Vec<PlannedTask>,
}

/// Which tasks of a pipeline a run is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// This task only.
    Only(String),
    /// This task and all tasks downstream of it.
    From(String),
    /// These tasks, and all tasks downstream of them: what an earlier run has not finished, or what has changed since. All
    /// others keep the results of that run.
    Rest(Vec<String>),
}

impl Choice {
    /// The tasks that are named.
    #[must_use]
    pub fn tasks(&self) -> &[String] {
        match self {
            Self::Only(task) | Self::From(task) => std::slice::from_ref(task),
            Self::Rest(tasks) => tasks,
        }
    }
}

/// A run of a part of a pipeline. Its plan has the chosen tasks and all before them, or all tasks if it is the rest of an
/// earlier run. The results of the other tasks are taken over from an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedPart {
    /// What was chosen.
    #[serde(flatten)]
    pub choice: Choice,
    /// The run that the tasks before were taken over from; none where there are none before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub of: Option<RunId>,
    /// Whether that run has a folder, whose files must be in this run's before any task starts.
    #[serde(default)]
    pub folder: bool,
}

/// A template's part of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedTemplate {
    /// Name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of its folder.
    pub digest: String,
    /// Its folder on the machine that planned.
    pub folder: String,
    /// Framework.
    pub framework: String,
    /// The container image; absent where each task has its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub image: Option<String>,
    /// The host of its registry, where the project has an account to pull it with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub registry: Option<String>,
    /// Whether its containers' root file system can be written to.
    #[serde(skip_serializing_if = "is_default", default)]
    pub writable_root: bool,
    /// Each worker's command, expressions unrendered.
    pub command: Vec<String>,
    /// Commands of roles that differ.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub role_commands: BTreeMap<String, Vec<String>>,
    /// Arguments whose value is a file of the pipeline's folder.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub path_arguments: Vec<String>,
    /// The arguments' JSON Schema, kept where a task of it has arguments that are known only when it is ready.
    #[serde(skip_serializing_if = "Value::is_null", default)]
    pub parameters: Value,
}

/// A value known at planning, or the source of one that is known later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Late {
    /// Known.
    Value(Value),
    /// The value as written; its strings hold expressions over `tasks` or `item`.
    Source(Value),
}

/// Values by name. A B-tree has room for eleven in each node, and a plan can hold 100,000 tasks of one argument.
pub type LateMap = LiteMap<String, Late>;

/// A task's part of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// Name.
    pub name: String,
    /// Its template, an index into [`RunPlan::templates`].
    pub template: u32,
    /// Tasks that it depends on.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub needs: Vec<TaskIx>,
    /// The tasks, before it though not always directly, whose outputs its expressions read.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reads: Vec<TaskIx>,
    /// Which ends of its needs let it start.
    #[serde(skip_serializing_if = "is_default", default)]
    pub trigger: TriggerRule,
    /// An expression that must be true.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub when: Option<String>,
    /// Its expansion.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub for_each: Option<PlannedForEach>,
    /// The arguments, defaults included.
    pub arguments: LateMap,
    /// The variables of pipeline, template and task together.
    #[serde(skip_serializing_if = "LateMap::is_empty", default)]
    pub env: LateMap,
    /// Whether a person does it, and no job: it has no roles then.
    #[serde(skip_serializing_if = "is_default", default)]
    pub asks: bool,
    /// Whether it is a run of another pipeline: it has no roles then, either.
    #[serde(skip_serializing_if = "is_default", default)]
    pub calls: bool,
    /// The roles.
    #[serde(deserialize_with = "tight")]
    pub roles: Vec<PlannedRole>,
    /// The set-up command.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub setup: Vec<String>,
    /// The Python environment where there are no containers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub python: Option<PythonEnvironment>,
    /// Its own image, where the template takes one from the arguments.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub image: Option<PlannedImage>,
    /// When the job has succeeded.
    pub success: SuccessRule,
    /// How many workers must start together: all of them, `min` of an elastic job, or 1 without a gang.
    pub gang: u32,
    /// How few and how many workers of the elastic role.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub elastic: Option<ElasticRange>,
    /// Secrets.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub secrets: Vec<SecretMount>,
    /// Volumes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub volumes: Vec<VolumeMount>,
    /// What happens after a failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retry: Option<RetryPolicy>,
    /// How long one attempt may run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout: Option<Span>,
    /// When one hangs, and what is done about it.
    #[serde(skip_serializing_if = "is_default", default)]
    pub hang: HangPolicy,
    /// How its workers are tested before its program begins, where they are.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preflight: Option<PreflightPolicy>,
    /// Larger goes first.
    #[serde(skip_serializing_if = "is_default", default)]
    pub priority: i32,
    /// Whether jobs of a lower priority are preempted for it.
    #[serde(skip_serializing_if = "is_default", default)]
    pub preempts: bool,
    /// Whether no job of a higher priority preempts it.
    #[serde(skip_serializing_if = "is_default", default)]
    pub protected: bool,
    /// Named limits that each of its jobs holds while it runs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub limits: Vec<String>,
    /// Where its workers go.
    #[serde(skip_serializing_if = "is_default", default)]
    pub placement: Placement,
    /// Whether CPU and memory are chosen from real use; `None`: the project decides.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sizing: Option<SizingMode>,
    /// Outputs that must have been written.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outputs: Vec<String>,
    /// Whether an equal earlier attempt is reused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache: Option<CachePolicy>,
}

/// A container image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedImage {
    /// Name.
    pub name: String,
    /// The host of its registry, where the project has an account to pull it with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub registry: Option<String>,
}

/// `serde(skip_serializing_if)` for fields whose default is the common case: plans can hold 100,000 tasks.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A list without room for more: serde makes room for four elements where most tasks have one, of 100,000 tasks 45 MB.
fn tight<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Ok(Box::<[T]>::deserialize(deserializer)?.into_vec())
}

/// A role's part of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedRole {
    /// Name.
    pub name: String,
    /// How many workers; of an elastic role, `max`.
    pub replicas: u32,
    /// What each gets.
    pub resources: Resources,
    /// Which of it sizing leaves alone.
    #[serde(skip_serializing_if = "is_default", default)]
    pub kept: Kept,
}

/// One instance for each element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedForEach {
    /// The elements, or the expression that yields them.
    pub items: ForEachItems,
    /// How many instances may run at the same time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
}

/// The elements of a `for_each`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForEachItems {
    /// Known at planning.
    Known(Vec<Value>),
    /// An expression over outputs of earlier tasks.
    Expression(String),
    /// The trials of a search. Their number may grow while they run.
    Search(Box<PlannedSearch>),
}

/// What happens after a failure, nothing left open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// Attempts in all.
    pub attempts: u32,
    /// The wait before the second attempt.
    pub initial: Span,
    /// How much longer each time.
    pub factor: f64,
    /// The longest wait.
    pub max: Span,
    /// Which failures.
    pub on: Vec<RetryOn>,
}

/// Whether an equal earlier attempt is reused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CachePolicy {
    /// Paths or globs whose content counts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inputs: Vec<String>,
    /// How old a result may be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_age: Option<Span>,
}

impl PlannedTask {
    /// The workers that it needs to start at all: what each of a role gets, and how many. Of the elastic one, the last,
    /// `min`.
    pub fn least(&self) -> impl Iterator<Item = (&Resources, u32)> {
        let last = self.roles.len().saturating_sub(1);
        self.roles.iter().enumerate().map(move |(at, role)| {
            let fewest = self.elastic.filter(|_| at == last).map(|range| range.min);
            (&role.resources, fewest.unwrap_or(role.replicas))
        })
    }

    /// The same task as an attempt gets it.
    #[must_use]
    pub fn sized(&self, sizing: &AttemptSizing) -> Self {
        let mut sized = self.clone();
        sized.roles.iter_mut().for_each(|role| sizing.apply(&role.name, &mut role.resources));
        sized
    }

    /// How many of so many workers are of its elastic role, the last; 0 where none is.
    #[must_use]
    pub fn elastic_of(&self, workers: u32) -> u32 {
        let others: u32 = self.roles.iter().rev().skip(1).map(|role| role.replicas).sum();
        self.elastic.map_or(0, |_| workers.saturating_sub(others))
    }

    /// How many of so many workers are of this role.
    #[must_use]
    pub fn workers_of(&self, role: &str, workers: u32) -> u32 {
        match self.roles.iter().position(|one| one.name == role) {
            Some(at) if at + 1 == self.roles.len() && self.elastic.is_some() => self.elastic_of(workers),
            Some(at) => self.roles[at].replicas,
            None => 0,
        }
    }

    /// The search that its instances are trials of.
    #[must_use]
    pub fn search(&self) -> Option<&PlannedSearch> {
        match self.for_each.as_ref().map(|each| &each.items) {
            Some(ForEachItems::Search(search)) => Some(search),
            _ => None,
        }
    }
}

impl RunPlan {
    /// The task at a position.
    #[must_use]
    pub fn task(&self, ix: TaskIx) -> &PlannedTask {
        &self.tasks[ix.index()]
    }

    /// The template of a task.
    #[must_use]
    pub fn template_of(&self, task: &PlannedTask) -> &PlannedTemplate {
        &self.templates[task.template as usize]
    }

    /// The position of the task with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<TaskIx> {
        self.tasks.iter().position(|task| task.name == name).and_then(|at| u32::try_from(at).ok()).map(TaskIx)
    }
}
