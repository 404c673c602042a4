//! Views of a run's forecast.

use cubeloom_domain::JsonMap;
use cubeloom_domain::history::RunTime;
use cubeloom_domain::waiting::WaitRule;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::tasks::view::StartView;
use crate::api::tasks::why::{HolderView, ShortageView};
use crate::error::ProblemView;
use crate::runs::describe::word;
use crate::time::Time;
use crate::told::Sentences;

/// Input of a forecast: a document or a stored pipeline.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToForecast {
    /// Document text, YAML or JSON.
    #[serde(default)]
    pub document: Option<String>,
    /// Digest of the code folder that belongs to the document.
    #[serde(default)]
    pub code: Option<String>,
    /// Stored pipeline, instead of a document.
    #[serde(default)]
    pub pipeline: Option<String>,
    /// Pipeline version. Defaults to the newest version.
    #[serde(default)]
    pub version: Option<u32>,
    /// Parameters. Strings are parsed according to the declared types.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
}

/// Forecast of a run started now.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ForecastView {
    /// Time for which the forecast is valid.
    pub at: Time,
    /// Cluster that the run would use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Tasks, in the order of the document. Empty for an invalid document.
    pub tasks: Vec<TaskForecastView>,
    /// Problems that would prevent the run. Tasks that can never start are not included; see the tasks.
    pub problems: Vec<ProblemView>,
}

/// Forecast of a task.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TaskForecastView {
    /// Name.
    pub task: String,
    /// Outlook of the task: `starts`, `waits`, `never`, `later` or `unknown`. `never`: the task can never start.
    /// `later`: it comes after other tasks, and can start later. `unknown`: the cluster's queue is unreachable. For a
    /// task with many instances, applies to the first one.
    pub outlook: Outlook,
    /// Reason why the task is pending or can never start: a sentence with the amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Rule that blocks the task: `capacity`, `not_lent`, `limit`, `no_borrowing`, `persons_cap`, `named_limit`,
    /// `apart`, `behind`, `cool_down`, `leaving`, `scattered`, `faulty`, `pipeline_parallelism` or `never_fits`.
    /// `max_active_runs`: other runs of the pipeline block the whole run. `budget`: the project's budget is spent.
    /// `not_taken`: the cluster would not accept the run from you, for example because you have no account. With
    /// `budget` and `not_taken`, the run is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Node pool concerned, as `CLUSTER` or `CLUSTER/NODE_GROUP`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Insufficient resources.
    pub shortages: Vec<ShortageView>,
    /// Blocking jobs in projects visible to you. The task starts once these and the jobs counted in `more_holders`
    /// and `hidden_holders` end. At most 200 are returned.
    pub holders: Vec<HolderView>,
    /// Number of further blocking jobs in visible projects, beyond those listed in `holders`.
    pub more_holders: usize,
    /// Number of blocking jobs in other projects.
    pub hidden_holders: usize,
    /// Number of jobs ahead in the queue of the same node pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u32>,
    /// Estimated start. Omitted if too little is known about the duration of other tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartView>,
    /// Duration of earlier attempts. Omitted until three attempts have succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_time: Option<RunTimeView>,
}

/// Outlook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outlook {
    /// Starts at once.
    Starts,
    /// Starts after other tasks.
    Later,
    /// Pending.
    Waits,
    /// Currently unknown.
    Unknown,
    /// Can never start.
    Never,
}

/// Duration of attempts.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct RunTimeView {
    /// Median duration of the attempts.
    pub p50_seconds: f64,
    /// 90th percentile of the duration.
    pub p90_seconds: f64,
    /// Number of attempts used for the statistics: the latest successful ones.
    pub attempts: usize,
}

impl From<RunTime> for RunTimeView {
    fn from(time: RunTime) -> Self {
        Self {
            p50_seconds: time.median.as_secs_f64(),
            p90_seconds: time.p90().as_secs_f64(),
            attempts: time.attempts,
        }
    }
}

/// Code of a rule.
pub(crate) fn rule(rule: WaitRule) -> String {
    word(&rule)
}

impl Sentences for ForecastView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.tasks.iter_mut().for_each(|task| task.message.each(look));
    }
}
