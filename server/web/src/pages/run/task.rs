//! `GET /runs/{run}/tasks/{task}`: one task, as a separate page. The run's page shows its main part in a side
//! panel.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::plan::{Late, PlannedTask};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, verbatim};
use serde::Deserialize;
use serde_json::Value;

use super::effective::Effective;
use super::parallel::{self, Parallel};
use super::question::OpenQuestion;
use super::row::{self, Row};
use crate::api;
use crate::api::tasks::instances::InstancesQuery;
use crate::api::tasks::preflight::{PreflightValues, PreflightView};
use crate::api::tasks::view::{
    AttemptView, HistoryView, InstanceView, NoticeView, RoleView, SearchView, TaskView, TrialView, WaitView,
    WorkerView,
};
use crate::api::tasks::why::WhyView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::page::{Page, PageQuery};
use crate::pages::{Frame, html};
use crate::readable;
use crate::runs::task::STATES;
use crate::runs::{Reader, describe, effective, search};
use crate::show;
use crate::state::Web;
use crate::terminals::place;
use crate::texts::Lang;
use crate::time::Time;

/// Instances per page.
const INSTANCES: usize = 50;
/// Maximum number of best trials of a search listed.
const BEST: usize = 10;
/// Number of attempts of earlier runs shown.
const HISTORY: usize = 8;

/// Query parameters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    instance: Option<u32>,
    cursor: String,
    /// State of the listed instances, or `all`. If empty, failed ones are listed, if there are any.
    state: String,
}

impl Asked {
    /// State of the listed instances. Empty for all. A requested instance is listed among all others.
    fn state(&self, task: &TaskView) -> &str {
        let has_failed = || task.instances.states.get("failed").is_some_and(|count| *count > 0);
        match self.state.as_str() {
            "all" => "",
            "" if self.instance.is_none() && has_failed() => "failed",
            state => state,
        }
    }
}

/// A filter of instances by state.
struct Chosen {
    /// As in the URL.
    state: &'static str,
    count: u64,
    /// Whether it is selected.
    current: bool,
}

struct Named {
    name: String,
    value: String,
    /// Whether it is an expression that is evaluated when the task is ready.
    late: bool,
}

/// An attempt, with the events that the cluster reported.
struct Told {
    attempt: AttemptView,
    notices: Vec<NoticeView>,
}

/// A search and its plot.
struct Searched {
    view: SearchView,
    plot: Option<Parallel>,
}

impl Searched {
    fn new(view: SearchView) -> Self {
        Self { plot: Parallel::of(&view), view }
    }

    /// Trials with an objective value, the best first.
    fn ranked(&self) -> Vec<&TrialView> {
        let mut ranked: Vec<&TrialView> =
            self.view.trials.iter().filter(|trial| trial.value.is_some()).collect();
        let sign = if self.view.goal == "minimize" { 1.0 } else { -1.0 };
        let cost = |trial: &TrialView| trial.value.map_or(f64::INFINITY, |value| value * sign);
        ranked.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        ranked.truncate(BEST);
        ranked
    }

    /// `maximize accuracy · TPE`.
    fn aim(&self, frame: &Frame) -> String {
        let goal =
            frame.t(if self.view.goal == "minimize" { "run.search-minimize" } else { "run.search-maximize" });
        let method = frame.t(match self.view.method.as_str() {
            "grid" => "run.search-grid",
            "random" => "run.search-random",
            _ => "run.search-tpe",
        });
        format!("{goal} {} · {method}", self.view.of)
    }

    /// Value of a trial's parameter.
    fn tried(&self, trial: &TrialView, name: &str) -> String {
        trial.parameters.get(name).map(parallel::text).unwrap_or_default()
    }

    /// Objective value of a trial.
    fn value(&self, trial: &TrialView) -> String {
        trial.value.map(show::number).unwrap_or_default()
    }
}

#[derive(Template)]
#[template(path = "run/task.html")]
struct TaskPage {
    frame: Frame,
    run: String,
    project: String,
    pipeline: String,
    row: Row,
    arguments: Vec<Named>,
    /// The search, if its instances are trials.
    search: Option<Searched>,
    instances: Vec<InstanceView>,
    /// State of the listed instances. Empty for all.
    state: String,
    /// Cursor of the next page of instances.
    next: Option<String>,
    /// Cursor of this page of instances.
    cursor: String,
    instance: u32,
    attempts: Vec<Told>,
    note: Option<String>,
    outputs: Vec<Named>,
    history: Vec<HistoryView>,
    /// Open approval of the instance.
    asked: Option<OpenQuestion>,
    may_rerun: bool,
    /// Whether the viewer may set the result of this instance.
    may_mark: bool,
    /// Whether the viewer may open a terminal at the instance.
    may_open: bool,
    /// Goodput.
    effective: Option<Effective>,
    now: Time,
}

impl TaskPage {
    fn task(&self) -> &TaskView {
        &self.row.task
    }

    /// Whether it runs jobs, unlike an approval.
    fn has_workers(&self) -> bool {
        !self.task().roles.is_empty()
    }

    /// Whether it has attempts: jobs or sub-runs.
    fn has_attempts(&self) -> bool {
        self.has_workers() || !self.attempts.is_empty()
    }

    /// Whether a worker failed the preflight tests.
    fn is_blamed(&self, preflight: &PreflightView, worker: &str) -> bool {
        preflight.blamed.as_ref().is_some_and(|blamed| blamed.worker == worker)
    }

    /// Values of a test, in the order of the table's columns.
    fn tested(&self, values: &PreflightValues) -> [String; 5] {
        let PreflightValues { cpu, memory, card, mount, network } = *values;
        [cpu, memory, card, mount, network].map(|value| value.map_or_else(|| "–".into(), show::number))
    }

    /// URL of the template's documentation: `torch-train@1.2.0` is `/templates/torch-train?version=1.2.0`.
    fn template_url(&self) -> String {
        let (name, version) = self.task().template.split_once('@').unwrap_or((&self.task().template, ""));
        format!("/templates/{name}?version={version}")
    }

    /// Requested resources of a role's workers.
    fn role(&self, role: &RoleView) -> String {
        let values = [
            ("n", role.replicas.to_string()),
            ("role", role.name.clone()),
            ("cpu", show::number(role.cpu)),
            ("memory", show::bytes(role.memory)),
        ];
        let mut text = self.frame.t_with("run.task-role", values);
        if let Some(count) = role.gpu.as_ref().and_then(|gpu| gpu.count) {
            text.push_str(", ");
            text.push_str(&self.frame.t_with("run.task-gpus", [("n", count)]));
        }
        text
    }

    /// Result or current state of an attempt.
    fn attempt_state<'a>(&self, attempt: &'a AttemptView) -> &'a str {
        attempt.outcome.as_deref().unwrap_or(&attempt.state)
    }

    fn address<'w>(&self, worker: &'w WorkerView) -> &'w str {
        worker.address.as_deref().unwrap_or_default()
    }

    /// Pending reason, as data.
    fn why(&self) -> Option<&WhyView> {
        self.task().wait.as_ref()?.why.as_ref()
    }

    /// Pending reason of the selected instance, if the task itself is not pending. A pending task shows it
    /// above.
    fn waits_alone(&self) -> Option<&WaitView> {
        let chosen = self.instances.iter().find(|one| one.instance == self.instance)?;
        chosen.wait.as_ref().filter(|_| !self.row.waits() && self.asked.is_none())
    }

    /// States of its instances, each with the number of instances.
    fn choices(&self) -> Vec<Chosen> {
        let states = &self.task().instances.states;
        let count = |state: &str| states.get(state).copied().filter(|count| *count > 0);
        let of_state = |state| Some(Chosen { state, count: count(state)?, current: self.state == state });
        let all = Chosen { state: "all", count: self.task().instances.total, current: self.state.is_empty() };
        std::iter::once(all).chain(STATES.into_iter().filter_map(of_state)).collect()
    }

    /// State of the listed instances, as in the URL.
    fn listed(&self) -> &str {
        if self.state.is_empty() { "all" } else { &self.state }
    }

    /// Query that keeps the current page of instances in links to one of them.
    fn place(&self) -> String {
        let state = format!("&state={}", self.listed());
        if self.cursor.is_empty() { state } else { format!("{state}&cursor={}", self.cursor) }
    }
}

pub(crate) async fn page(
    State(web): State<Web>,
    caller: Caller,
    frame: Frame,
    Path((run, task)): Path<(RunId, String)>,
    Query(asked): Query<Asked>,
) -> ApiResult<Response> {
    let reader = Reader::open(&web, &run).await?.with_starts(&caller).await?;
    let index = reader.find(&task)?;
    let planned = reader.plan.task(index);
    let view = reader.task(index.0).await?;
    let state = asked.state(&view).to_owned();
    let listed = instances(&web, &caller, &run, &view, (&state, &asked.cursor)).await?;
    let Page { items: instances, next_cursor } = listed;
    let failed = view.failure.as_ref().and_then(|failure| failure.instance);
    let first = instances.first().map(|one| one.instance);
    let instance = asked.instance.or(failed).or(first).unwrap_or(0);
    let search = search::of(&web, &reader, index).await?.map(Searched::new);
    let attempts = web.store().attempts_with_stacks(&reader.record.id, index, instance).await?;
    let mut told = Vec::with_capacity(attempts.len());
    for record in &attempts {
        let attempt = describe::attempt_now(&web, record, planned);
        told.push(Told { attempt, notices: describe::notices(&web, record).await });
    }
    let outputs = match instances.iter().find(|one| one.instance == instance) {
        Some(one) => &one.outputs,
        None => &view.outputs,
    };
    let record = web.store().instance(&run, index, instance).await?;
    html(&TaskPage {
        asked: record.as_ref().and_then(|record| OpenQuestion::of(&caller, &reader, record)),
        outputs: outputs.iter().map(|(name, value)| known(name, value)).collect(),
        arguments: arguments(planned),
        attempts: told,
        note: record.as_ref().and_then(describe::note_of),
        search,
        history: history(&web, &reader, &task).await?,
        may_open: frame.may_edit()
            && record.as_ref().is_some_and(|record| place::is_open_to(&record.state))
            && place::can(&web, &reader.plan.cluster),
        may_rerun: frame.may_edit() && reader.record.state.is_final(),
        may_mark: frame.may_edit() && reader.record.state != RunState::Cancelling,
        project: reader.record.project.clone(),
        pipeline: reader.record.pipeline.clone(),
        effective: effective::of(&web, &reader, Some(index)).await?.map(Effective::new),
        now: Time(web.now()),
        row: Row { task: view },
        frame,
        run: run.to_string(),
        instances,
        state,
        next: next_cursor,
        cursor: asked.cursor,
        instance,
    })
}

/// A page of the task's instances. Empty for a task without `for_each`, which is its only instance.
async fn instances(
    web: &Web,
    caller: &Caller,
    run: &RunId,
    task: &TaskView,
    (state, cursor): (&str, &str),
) -> ApiResult<Page<InstanceView>> {
    if !task.for_each {
        return Ok(Page { items: Vec::new(), next_cursor: None });
    }
    let page = PageQuery { limit: Some(INSTANCES), cursor: Some(cursor.to_owned()) };
    let path = Path((run.clone(), task.name.clone()));
    let query = InstancesQuery { state: Some(state.to_owned()) };
    let (web, caller) = (State(web.clone()), caller.clone());
    Ok(api::tasks::instances::instances(web, caller, Lang::En, path, Query(query), Query(page)).await?.0)
}

fn arguments(planned: &PlannedTask) -> Vec<Named> {
    let named = |(name, value): (&String, &Late)| match value {
        Late::Value(value) => known(name, value),
        Late::Source(source) => Named { late: true, ..known(name, source) },
    };
    planned.arguments.iter().map(named).collect()
}

fn known(name: &str, value: &Value) -> Named {
    let mut value = value.clone();
    verbatim::unmark(&mut value);
    Named { name: name.into(), value: readable::value(&value), late: false }
}

/// Usage of earlier runs' attempts of the task.
async fn history(web: &Web, reader: &Reader<'_>, task: &str) -> ApiResult<Vec<HistoryView>> {
    let record = &reader.record;
    let attempts = web.store().history(&record.project, &record.pipeline, task, HISTORY * 2).await?;
    let earlier = attempts.iter().filter(|attempt| attempt.key.run < record.id);
    Ok(earlier.filter_map(describe::history).take(HISTORY).collect())
}
