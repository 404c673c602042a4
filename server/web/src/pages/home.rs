//! `GET /`: what runs, what waits and why, what failed lately, of all projects that the reader sees.

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

/// Rows of what runs and of what waits.
const ROWS: usize = 20;

/// Rows of what has ended.
const ENDED: usize = 8;

/// Rows of what hangs and of what was sized anew, and of how many changes these are chosen: a task may change often.
const NOTICED: usize = 8;
const CHANGES: usize = 100;

/// Failures, and changes of sizes, are shown for a week, in microseconds.
const LATELY: i64 = 7 * 24 * 3_600_000_000;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    /// Name and label of a project of the reader's whose owners are asked about right-sizing.
    unsized_project: Option<(String, String)>,
    /// Whether right-sizing is on in the project that the page's links lead to.
    is_sized: bool,
    notices: Vec<Notice>,
    running: Vec<Listed>,
    waits: Vec<Wait>,
    /// How many tasks and runs wait.
    all_waits: usize,
    failed: Vec<Failed>,
    ended: Vec<Listed>,
}

/// Something of the reader's own that they should look at.
struct Notice {
    project: String,
    pipeline: String,
    task: String,
    /// Which of its instances, where that is not the first.
    instance: Option<InstanceIx>,
    /// Where it is shown.
    href: String,
    /// Whether it hangs; else its size was changed.
    hangs: bool,
    /// What is said of it; of a size, of each role.
    sentences: Vec<String>,
    at: Time,
}

/// A run that failed, with the first of its tasks that did.
struct Failed {
    run: Listed,
    /// Name of the task.
    task: Option<String>,
    /// The sentence of its first failed instance, or what is known of the run.
    why: Option<String>,
}

/// Something that waits, and why.
struct Wait {
    run: String,
    project: String,
    pipeline: String,
    /// The task, unless the whole run waits.
    task: Option<String>,
    /// How many instances of the task wait.
    count: u64,
    /// `queued`, `waiting`, `approval` or `backoff`.
    state: &'static str,
    since: Time,
    /// Time of the next retry.
    until: Option<Time>,
    /// The engine's sentence, once it has looked.
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
    // What only waits is among the tasks that wait.
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
    /// Whether nothing has happened here yet.
    fn is_new(&self) -> bool {
        self.running.is_empty() && self.waits.is_empty() && self.failed.is_empty() && self.ended.is_empty()
    }
}

impl RunView {
    /// How many of its tasks have ended.
    pub(super) fn tasks_ended(&self) -> u64 {
        const ENDED: [&str; 7] =
            ["succeeded", "reused", "stopped_early", "failed", "upstream_failed", "skipped", "cancelled"];
        ENDED.iter().filter_map(|state| self.tasks.states.get(*state)).sum()
    }
}

/// What hangs of a person's own, and of each of their tasks whose size was changed the last change.
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

/// The changes of the last run of each task that had some: of each role the last one, the newest first.
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

/// What is said of the changes of a task; where several roles have some, with their names.
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

/// What ended last comes first.
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
