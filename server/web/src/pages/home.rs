//! `GET /`: running and pending tasks with reasons, and recent failures, of all projects that the reader can
//! see.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::identity::Role;
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_domain::sizing::SizeChange;
use cubeloom_domain::state::InstanceState;
use cubeloom_domain::{InstanceIx, RunId, Timestamp};
use cubeloom_store::{Hanging, Noticed, WaitingTask};
use std::cmp::Reverse;

use super::{Frame, html};
use crate::api::projects;
use crate::api::runs::list::{self, RunsQuery};
use crate::api::runs::view::RunView;
use crate::auth::{self, Caller};
use crate::error::{ApiError, ApiResult};
use crate::page::PageQuery;
use crate::runs::listed::Listed;
use crate::state::Web;
use crate::time::Time;

/// Maximum number of running and pending rows.
const ROWS: usize = 20;

/// Maximum number of ended rows.
const ENDED: usize = 8;

/// Maximum number of hangs and resized tasks, and of size changes to select from: a task may change often.
const NOTICED: usize = 8;
const CHANGES: usize = 100;

/// Failures and size changes are shown for a week, in microseconds.
const LATELY: i64 = 7 * 24 * 3_600_000_000;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    /// Name and label of a project whose owner, the reader, is asked to turn right-sizing on.
    unsized_project: Option<(String, String)>,
    /// Whether right-sizing is on in the project that the page links to.
    is_sized: bool,
    notices: Vec<Notice>,
    running: Vec<Listed>,
    waits: Vec<Wait>,
    /// Number of pending tasks and runs.
    all_waits: usize,
    failed: Vec<Failed>,
    ended: Vec<Listed>,
}

/// Something of the reader's that needs attention.
struct Notice {
    project: String,
    pipeline: String,
    task: String,
    /// Index of the instance, unless it is the first.
    instance: Option<InstanceIx>,
    /// Link to it.
    href: String,
    /// Whether it hangs. Otherwise, its size changed.
    hangs: bool,
    /// Messages. For size changes, one per role.
    sentences: Vec<String>,
    at: Time,
}

/// A failed run, with its first failed task.
struct Failed {
    run: Listed,
    task: Option<String>,
    /// Message of the first failed instance, or the run's.
    why: Option<String>,
}

/// A pending task or run, and why.
struct Wait {
    run: String,
    project: String,
    pipeline: String,
    /// Task. `None` if the whole run is pending.
    task: Option<String>,
    /// Number of pending instances of the task.
    count: u64,
    /// `queued`, `waiting`, `approval` or `backoff`.
    state: &'static str,
    since: Time,
    /// Time of the next retry.
    until: Option<Time>,
    /// Message of the scheduler, if it has evaluated the job.
    reason: Option<String>,
}

/// `GET /`
pub(super) async fn show(State(web): State<Web>, caller: Caller, frame: Frame) -> ApiResult<Response> {
    let projects = auth::projects_of(&web, &caller).await?;
    let of_state = async |state: &str, since: Option<Time>, limit: usize| {
        let query = RunsQuery { state: Some(state.to_owned()), since, ..RunsQuery::default() };
        let page = PageQuery { limit: Some(limit), cursor: None };
        list::find(&web, projects.clone(), &query, &page).await.map(|page| page.items)
    };
    let live = of_state("live", None, ROWS).await?;
    let lately = Time(Timestamp(web.now().0 - LATELY));
    let mut failed = Vec::new();
    for run in by_end(of_state("failed", Some(lately), ENDED).await?) {
        failed.push(with_cause(&web, run).await?);
    }
    let notices = notices(&web, &caller.user.name, projects.as_deref(), lately).await?;
    let ended = by_end(of_state("succeeded,cancelled", None, ENDED).await?);
    let (queued, begun): (Vec<_>, Vec<_>) = live.into_iter().partition(|run| run.state == "queued");
    // Runs that only wait are listed among the pending tasks.
    let running = begun.into_iter().filter(|run| !run.is_pending()).collect();
    let mut waits: Vec<Wait> = queued.into_iter().map(of_run).collect();
    let (tasks, all_tasks) = web.store().waiting_tasks(projects.as_deref(), ROWS).await?;
    let all_waits = waits.len() + all_tasks;
    waits.extend(tasks.into_iter().map(of_task));
    let seen = projects::visible(&web, &caller).await?;
    let here = seen.iter().find(|(project, _)| frame.project.as_deref() == Some(&*project.name));
    let is_sized = here.is_some_and(|(project, _)| project.sizing == SizingMode::Auto);
    let owned = |role: &Option<Role>| caller.user.admin || *role == Some(Role::Owner);
    let asks = seen.iter().find(|(project, role)| owned(role) && project.asks_sizing());
    let unsized_project = asks.map(|(project, _)| (project.name.clone(), project.label.clone()));
    html(&HomePage { frame, unsized_project, is_sized, notices, running, waits, all_waits, failed, ended })
}

impl HomePage {
    /// Whether there is nothing to show yet.
    fn is_new(&self) -> bool {
        self.running.is_empty() && self.waits.is_empty() && self.failed.is_empty() && self.ended.is_empty()
    }
}

impl RunView {
    pub(super) fn tasks_ended(&self) -> u64 {
        const ENDED: [&str; 7] =
            ["succeeded", "reused", "stopped_early", "failed", "upstream_failed", "skipped", "cancelled"];
        ENDED.iter().filter_map(|state| self.tasks.states.get(*state)).sum()
    }
}

/// Hanging tasks of a user, and the last size change of each of their tasks.
async fn notices(web: &Web, user: &str, projects: Option<&[String]>, lately: Time) -> ApiResult<Vec<Notice>> {
    let hanging = web.store().hanging(user, projects, NOTICED).await?;
    let mut notices: Vec<Notice> = hanging.into_iter().map(of_hang).collect();
    let changes = web.store().sized_anew(user, projects, lately.0, CHANGES).await?;
    notices.extend(by_task(changes).into_iter().take(NOTICED).filter_map(of_changes));
    Ok(notices)
}

fn of_hang(one: Noticed<Hanging>) -> Notice {
    let Hanging { instance, hang } = one.what;
    let instance = Some(instance).filter(|instance| *instance > 0);
    let place = instance.map_or_else(String::new, |instance| format!("?instance={instance}"));
    Notice {
        href: format!("/runs/{}/tasks/{}{place}", one.run, one.task),
        hangs: true,
        sentences: vec![hang.sentence()],
        at: Time(hang.since),
        project: one.project,
        pipeline: one.pipeline,
        task: one.task,
        instance,
    }
}

/// Size changes of each task in its last changed run: the last one of each role, the newest first.
fn by_task(changes: Vec<Noticed<SizeChange>>) -> Vec<Vec<Noticed<SizeChange>>> {
    let task = |one: &Noticed<SizeChange>| [one.project.clone(), one.pipeline.clone(), one.task.clone()];
    let mut told: Vec<Vec<Noticed<SizeChange>>> = Vec::new();
    for one in changes {
        let Some(of) = told.iter_mut().find(|of| of.first().map(task) == Some(task(&one))) else {
            told.push(vec![one]);
            continue;
        };
        if of.iter().all(|newer| newer.run == one.run && newer.what.sized.role != one.what.sized.role) {
            of.push(one);
        }
    }
    told
}

/// Notice about a task's size changes, with the roles' names if there are several.
fn of_changes(of: Vec<Noticed<SizeChange>>) -> Option<Notice> {
    let names = of.len() > 1;
    let said = of.iter().filter_map(|one| {
        let (role, sentence) = (&one.what.sized.role, one.what.sized.change()?);
        Some(if names { format!("{role}: {sentence}") } else { sentence })
    });
    let sentences = said.collect();
    let one = of.into_iter().next()?;
    Some(Notice {
        href: format!("/projects/{}/pipelines/{}/tasks/{}/sizing", one.project, one.pipeline, one.task),
        hangs: false,
        sentences,
        at: Time(one.what.at),
        project: one.project,
        pipeline: one.pipeline,
        task: one.task,
        instance: None,
    })
}

/// Sorts runs by their end, the latest first.
fn by_end(mut runs: Vec<Listed>) -> Vec<Listed> {
    runs.sort_by_key(|run| Reverse(run.ended_at));
    runs
}

async fn with_cause(web: &Web, run: Listed) -> ApiResult<Failed> {
    let id: RunId = run.id.parse().map_err(ApiError::internal)?;
    let Some(first) = web.store().first_failed(&id).await? else {
        return Ok(Failed { task: None, why: run.message.clone(), run });
    };
    let task = web.store().planned_task(&id, first.task).await?.map(|task| task.name);
    let why = match first.state {
        InstanceState::Failed { failure } => Some(failure.message),
        _ => None,
    };
    Ok(Failed { run, task, why })
}

fn of_run(run: Listed) -> Wait {
    Wait {
        run: run.id.clone(),
        project: run.project.clone(),
        pipeline: run.pipeline.clone(),
        task: None,
        count: 1,
        state: "queued",
        since: run.created_at,
        until: None,
        reason: run.message.clone(),
    }
}

fn of_task(WaitingTask { first: waiting, count }: WaitingTask) -> Wait {
    let (state, until, reason) = match &waiting.instance.state {
        InstanceState::Backoff { until } => ("backoff", Some(Time(*until)), None),
        InstanceState::Waiting { reason, .. } => {
            let asks = waiting.instance.state.question().is_some();
            let reason = reason.as_ref().map(|reason| reason.message().to_owned());
            (if asks { "approval" } else { "waiting" }, None, reason)
        }
        _ => ("waiting", None, None),
    };
    Wait {
        run: waiting.instance.run.to_string(),
        project: waiting.project,
        pipeline: waiting.pipeline,
        task: Some(waiting.task),
        count,
        state,
        since: Time(waiting.instance.ready_at),
        until,
        reason,
    }
}
