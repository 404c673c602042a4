//! Common head of a run's tabs: the run, open approvals and pending reasons, and the previous run.

use askama::Template;
use cubeloom_domain::TaskIx;
use cubeloom_domain::plan::{Choice, PlannedPart};
use cubeloom_store::RunFilter;
use serde_json::Value;

use super::Tab;
use super::bar::Bar;
use super::effective::Effective;
use super::newer::Newer;
use super::question::Questions;
use super::row::Row;
use crate::api::runs::view::RunView;
use crate::api::tasks::hang::HangView;
use crate::api::tasks::view::FailureView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::pages::Frame;
use crate::pages::runs::short;
use crate::runs::{Reader, describe, effective, items, queued};
use crate::state::Web;
use crate::time::Time;

/// Head of the page.
pub(crate) struct Head {
    pub(crate) run: RunView,
    pub(crate) tab: Tab,
    pub(crate) failure: Option<First>,
    /// Id of the pipeline's previous run.
    pub(crate) before: Option<String>,
    /// Part of the pipeline, for a partial run.
    pub(crate) part: Option<PlannedPart>,
    /// Open approvals.
    pub(crate) questions: Questions,
    /// Pending tasks with reasons, while none runs.
    pub(crate) pending: Vec<Row>,
    /// Who cancelled the run, and when.
    pub(crate) cancelled: Option<(String, Time)>,
    /// Newest version of its pipeline, once the run has ended.
    pub(crate) newest: Option<u32>,
    /// Newer version that it can be resumed with.
    pub(crate) newer: Option<Newer>,
    /// Hanging tasks, and why.
    pub(crate) hangs: Vec<(String, HangView)>,
    /// Goodput of the run.
    pub(crate) effective: Option<Effective>,
    pub(crate) now: Time,
}

/// Template of the head. It is separate, as a page's includes are compiled once per page.
#[derive(Template)]
#[template(path = "run/head.html")]
pub(crate) struct HeadTemplate<'a> {
    frame: &'a Frame,
    head: &'a Head,
}

/// The first failure.
pub(crate) struct First {
    pub(crate) task: String,
    pub(crate) failure: FailureView,
    /// Item of the failed instance, if the task has several.
    pub(crate) item: Option<String>,
}

impl First {
    /// Index of the failed instance.
    pub(crate) fn instance(&self) -> u32 {
        self.failure.instance.unwrap_or_default()
    }

    pub(crate) fn log(&self, run: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("tab", "logs").append_pair("task", &self.task);
        for (name, number) in [("instance", self.failure.instance), ("attempt", self.failure.attempt)] {
            if let Some(number) = number {
                query.append_pair(name, &number.to_string());
            }
        }
        if let Some(worker) = &self.failure.worker {
            query.append_pair("worker", worker);
        }
        format!("/runs/{run}?{}", query.finish())
    }
}

impl Head {
    pub(crate) fn template<'a>(&'a self, frame: &'a Frame) -> HeadTemplate<'a> {
        HeadTemplate { frame, head: self }
    }

    pub(crate) async fn read(web: &Web, caller: &Caller, reader: &Reader<'_>, tab: Tab) -> ApiResult<Self> {
        let run = RunView { wait: queued::of(web, reader).await?, ..reader.run() };
        let newest = newest(web, reader).await?;
        Ok(Self {
            failure: first_failure(web, reader).await?,
            questions: Questions::read(web, caller, reader).await?,
            pending: pending(reader, &run).await?,
            cancelled: cancelled(web, &run).await?,
            newer: Newer::read(web, caller, reader, newest).await?,
            newest,
            hangs: hangs(web, reader).await?,
            before: before(web, &run).await?,
            part: reader.plan.part.clone(),
            effective: effective::of(web, reader, None).await?.map(Effective::new),
            now: Time(web.now()),
            run,
            tab,
        })
    }

    /// End of the run's id.
    pub(crate) fn short(&self) -> &str {
        short(&self.run.id)
    }

    /// Message of the run. The part is shown elsewhere, so its message is omitted.
    pub(crate) fn message(&self) -> Option<&str> {
        let own = self.part.as_ref().map(crate::part::message);
        self.run.message.as_deref().filter(|said| own.as_deref() != Some(*said))
    }

    /// Text key of its part.
    pub(crate) fn part_key(part: &PlannedPart) -> &'static str {
        match part.choice {
            Choice::Only(_) => "run.part-only",
            Choice::From(_) | Choice::Rest(_) => "run.part-from",
        }
    }

    /// Whether it resumes another run with a newer version.
    pub(crate) fn is_rest(&self) -> bool {
        matches!(self.part.as_ref().map(|part| &part.choice), Some(Choice::Rest(_)))
    }

    /// Whether the run can still progress.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.run.state.as_str(), "queued" | "running" | "cancelling")
    }

    /// Whether it can be cancelled.
    pub(crate) fn can_cancel(&self) -> bool {
        matches!(self.run.state.as_str(), "queued" | "running")
    }

    /// Text key of the time since its start.
    pub(crate) fn since_key(&self) -> &'static str {
        if self.run.phase == "running" { "run.since" } else { "run.since-start" }
    }

    /// Whether it is cancelled or being cancelled.
    pub(crate) fn has_cancelled(&self) -> bool {
        matches!(self.run.state.as_str(), "cancelling" | "cancelled")
    }

    /// URL of the pipeline's editor, at the failed task.
    pub(crate) fn editor(&self) -> String {
        let RunView { project, pipeline, .. } = &self.run;
        let place = self.failure.as_ref().map(|first| format!("#task/{}", first.task)).unwrap_or_default();
        format!("/projects/{project}/pipelines/{pipeline}/edit{place}")
    }

    /// Whether something is left to run.
    pub(crate) fn can_resume(&self) -> bool {
        matches!(self.run.state.as_str(), "failed" | "cancelled")
    }

    /// Bar of its tasks by state.
    pub(crate) fn bar(&self) -> Bar {
        Bar::of(&self.run.tasks)
    }
}

/// Maximum number of failed tasks to read. With many, the first ones also failed early.
const FAILED: usize = 50;

/// The first failed task, with the item that it failed for.
async fn first_failure(web: &Web, reader: &Reader<'_>) -> ApiResult<Option<First>> {
    let failed: Vec<u32> =
        (0..reader.record.tasks).filter(|index| reader.state(*index) == "failed").take(FAILED).collect();
    if failed.is_empty() {
        return Ok(None);
    }
    // Failed trials of a search do no harm: the first failure may be one of them.
    let first = web.store().first_failed(&reader.record.id).await?;
    if let Some(one) = first.filter(|one| failed.contains(&one.task.0)) {
        let Some(failure) = describe::failure_of(&one, None) else { return Ok(None) };
        return Ok(Some(First::of(web, reader, one.task, failure).await?));
    }
    let mut first: Option<(Option<Time>, TaskIx, FailureView)> = None;
    for index in failed {
        let task = reader.task(index).await?;
        let Some(failure) = task.failure else { continue };
        if first.as_ref().is_none_or(|(ended, ..)| task.ended_at < *ended) {
            first = Some((task.ended_at, TaskIx(index), failure));
        }
    }
    match first {
        Some((_, task, failure)) => Ok(Some(First::of(web, reader, task, failure).await?)),
        None => Ok(None),
    }
}

impl First {
    async fn of(web: &Web, reader: &Reader<'_>, task: TaskIx, failure: FailureView) -> ApiResult<Self> {
        let planned = reader.plan.task(task);
        let mut item = None;
        if let (true, Some(at)) = (planned.for_each.is_some(), failure.instance) {
            let all = items::of(web, &reader.record.id, &reader.plan, task).await?;
            item = Some(all.get(at as usize).map(in_a_line).unwrap_or_default());
        }
        Ok(Self { task: planned.name.clone(), failure, item })
    }
}

/// A value as one line.
fn in_a_line(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Maximum number of listed pending tasks.
const PENDING: usize = 3;

/// Pending tasks of a run, while none of them runs.
async fn pending(reader: &Reader<'_>, run: &RunView) -> ApiResult<Vec<Row>> {
    let mut pending = Vec::new();
    if !run.is_pending() {
        return Ok(pending);
    }
    for index in
        reader.with_any("waiting").filter(|index| !reader.plan.task(TaskIx(*index)).asks).take(PENDING)
    {
        pending.push(Row { task: reader.task(index).await? });
    }
    Ok(pending)
}

/// Newest version of the pipeline of an ended run.
async fn newest(web: &Web, reader: &Reader<'_>) -> ApiResult<Option<u32>> {
    let record = &reader.record;
    if !record.state.is_final() || record.version.is_none() {
        return Ok(None);
    }
    Ok(web.store().newest(&record.project, &record.pipeline).await?.map(|newest| newest.version))
}

/// Who cancelled a run, and when.
async fn cancelled(web: &Web, run: &RunView) -> ApiResult<Option<(String, Time)>> {
    let (true, Ok(id)) = (matches!(run.state.as_str(), "cancelling" | "cancelled"), run.id.parse()) else {
        return Ok(None);
    };
    let wish = web.store().last_cancel(&id).await?;
    // A token for one project still belongs to that user.
    let person = |user: String| user.strip_suffix(":token").map(str::to_owned).unwrap_or(user);
    Ok(wish.map(|wish| (person(wish.user), Time(wish.created_at))))
}

/// Maximum number of attempts to read that hang, or hung and are still running.
const HANGS: usize = 500;

/// Hanging tasks, each once.
async fn hangs(web: &Web, reader: &Reader<'_>) -> ApiResult<Vec<(String, HangView)>> {
    let mut hangs: Vec<(String, HangView)> = Vec::new();
    for (task, hang) in web.store().hangs(&reader.record.id, HANGS).await? {
        if hang.is_present() && hangs.last().is_none_or(|(last, _)| *last != task) {
            hangs.push((task, HangView::brief(&hang)));
        }
    }
    Ok(hangs)
}

async fn before(web: &Web, run: &RunView) -> ApiResult<Option<String>> {
    let filter = RunFilter {
        projects: Some(vec![run.project.clone()]),
        pipeline: Some(run.pipeline.clone()),
        before: run.id.parse().ok(),
        limit: Some(1),
        ..RunFilter::default()
    };
    Ok(web.store().runs(&filter).await?.first().map(|run| run.id.to_string()))
}
