//! What would become of a run, as the API shows it.

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

/// What to look at: a document, or a stored pipeline.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToForecast {
    /// The text, YAML or JSON.
    #[serde(default)]
    pub document: Option<String>,
    /// The digest of a folder of code that goes with the document.
    #[serde(default)]
    pub code: Option<String>,
    /// A stored pipeline, instead of a document.
    #[serde(default)]
    pub pipeline: Option<String>,
    /// Its version; the newest when absent.
    #[serde(default)]
    pub version: Option<u32>,
    /// The parameters; texts are read by the declared types.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
}

/// What would become of a run that were started now.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ForecastView {
    /// The moment that it holds for.
    pub at: Time,
    /// The cluster that the run would go to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Its tasks, in the document's order; none of a document with mistakes.
    pub tasks: Vec<TaskForecastView>,
    /// The mistakes for which there would be no run. Tasks that can never start are none of these: see the tasks.
    pub problems: Vec<ProblemView>,
}

/// What would become of a task.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TaskForecastView {
    /// Its name.
    pub task: String,
    /// `starts`, `waits`, `never` (it can never start), `later` (it comes after other tasks, and can start some day), or
    /// `unknown` while the cluster's queue cannot be asked. Of a task with many instances, the first one.
    pub outlook: Outlook,
    /// Why it waits, or can never start: a sentence with the amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The rule that keeps it: `capacity`, `not_lent`, `limit`, `no_borrowing`, `persons_cap`, `named_limit`, `apart`, `behind`,
    /// `cool_down`, `leaving`, `scattered`, `faulty`, `pipeline_parallelism` or `never_fits`; `max_active_runs` where other runs of
    /// the pipeline keep the whole run, `budget` where the project's is spent, `not_taken` where the cluster would not take it
    /// from you, as you have no account there, say: with these two the run is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The machines that it concerns: `CLUSTER` or `CLUSTER/NODE_GROUP`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Of what there is too little.
    pub shortages: Vec<ShortageView>,
    /// Who holds it, of the projects that you see: when these and the others that are counted beside them end, it starts.
    /// At most 200 of them are told.
    pub holders: Vec<HolderView>,
    /// How many more there are of these.
    pub more_holders: usize,
    /// How many jobs of other projects hold it, too.
    pub hidden_holders: usize,
    /// How many jobs of the same pool are before it in the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u32>,
    /// When it may start; absent where too little is known of how long others take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartView>,
    /// How long it took before; absent before three attempts have ended well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_time: Option<RunTimeView>,
}

/// What would become of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outlook {
    /// It starts at once.
    Starts,
    /// It comes after other tasks.
    Later,
    /// It waits.
    Waits,
    /// Nobody can say at present.
    Unknown,
    /// It can never start.
    Never,
}

/// How long something took.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct RunTimeView {
    /// Half of the attempts were shorter.
    pub p50_seconds: f64,
    /// Nine of ten were.
    pub p90_seconds: f64,
    /// How many attempts say so: the last ones that ended well.
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

/// A rule's word.
pub(crate) fn rule(rule: WaitRule) -> String {
    word(&rule)
}

impl Sentences for ForecastView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.tasks.iter_mut().for_each(|task| task.message.each(look));
    }
}
