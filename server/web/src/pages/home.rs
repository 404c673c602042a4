//! `GET /`: what runs, what waits and why, what failed lately, of all projects that the reader sees.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::Timestamp;
use cubeloom_domain::state::InstanceState;
use cubeloom_store::Waiting;

use super::{Frame, html};
use crate::api::runs::list::{self, RunsQuery};
use crate::api::runs::view::RunView;
use crate::auth::{self, Caller};
use crate::error::ApiResult;
use crate::page::PageQuery;
use crate::state::Web;
use crate::time::Time;

/// Rows of each list.
const ROWS: usize = 20;

/// Failures are shown for a week, in microseconds.
const LATELY: i64 = 7 * 24 * 3_600_000_000;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    running: Vec<RunView>,
    waits: Vec<Wait>,
    failed: Vec<RunView>,
    ended: Vec<RunView>,
}

/// Something that waits, and why.
struct Wait {
    run: String,
    project: String,
    pipeline: String,
    /// The task, unless the whole run waits.
    task: Option<String>,
    /// `queued`, `waiting` or `backoff`.
    state: &'static str,
    since: Time,
    /// When it is tried again.
    until: Option<Time>,
    /// The engine's sentence, once it has looked.
    reason: Option<String>,
}

/// `GET /`
pub(super) async fn show(State(web): State<Web>, caller: Caller, frame: Frame) -> ApiResult<Response> {
    let projects = auth::projects_of(&web, &caller).await?;
    let of_state = async |state: &str, since: Option<Time>| {
        let query = RunsQuery { state: Some(state.to_owned()), since, ..RunsQuery::default() };
        let page = PageQuery { limit: Some(ROWS), cursor: None };
        list::find(&web, projects.clone(), &query, &page).await.map(|page| page.items)
    };
    let live = of_state("live", None).await?;
    let lately = Time(Timestamp(web.now().0 - LATELY));
    let failed = of_state("failed", Some(lately)).await?;
    let ended = of_state("succeeded,cancelled", None).await?;
    let (queued, running): (Vec<_>, Vec<_>) = live.into_iter().partition(|run| run.state == "queued");
    let mut waits: Vec<Wait> = queued.into_iter().map(of_run).collect();
    waits.extend(web.store().waiting(projects.as_deref(), ROWS).await?.into_iter().map(of_instance));
    let ended = ended.into_iter().take(8).collect();
    html(&HomePage { frame, running, waits, failed, ended })
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
        const ENDED: [&str; 6] = ["succeeded", "reused", "failed", "upstream_failed", "skipped", "cancelled"];
        ENDED.iter().filter_map(|state| self.tasks.states.get(*state)).sum()
    }
}

fn of_run(run: RunView) -> Wait {
    Wait {
        run: run.id,
        project: run.project,
        pipeline: run.pipeline,
        task: None,
        state: "queued",
        since: run.created_at,
        until: None,
        reason: run.message,
    }
}

fn of_instance(waiting: Waiting) -> Wait {
    let (state, until, reason) = match &waiting.instance.state {
        InstanceState::Backoff { until } => ("backoff", Some(Time(*until)), None),
        InstanceState::Waiting { reason, .. } => {
            ("waiting", None, reason.as_ref().map(|reason| reason.message().to_owned()))
        }
        _ => ("waiting", None, None),
    };
    Wait {
        run: waiting.instance.run.to_string(),
        project: waiting.project,
        pipeline: waiting.pipeline,
        task: Some(waiting.task),
        state,
        since: Time(waiting.instance.ready_at),
        until,
        reason,
    }
}
