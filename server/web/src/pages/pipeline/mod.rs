//! `GET /projects/{project}/pipelines/{pipeline}`: one pipeline, with a tab each for graph, text, versions,
//! runs, schedule and hooks.

mod hooks;
mod runs;
mod schedule;
mod versions;

pub(super) use schedule::when_after;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::Severity;
use cubeloom_store::PipelineVersion;
use serde::Deserialize;
use serde_json::json;

use super::{Frame, carried, html};
use crate::api::hooks::HookView;
use crate::api::pipelines::VersionView;
use crate::api::validate::{CheckedView, checked};
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemView};
use crate::extract::{Path, Query};
use crate::page::Page;
use crate::plan;
use crate::state::Web;

#[derive(Template)]
#[template(path = "pipeline.html")]
struct PipelinePage {
    frame: Frame,
    project: String,
    name: String,
    description: String,
    /// The shown version. Its document is in `carried`.
    version: VersionView,
    /// Number of the newest version.
    newest: u32,
    /// Errors, and warnings.
    errors: usize,
    warnings: usize,
    problems: Vec<ProblemView>,
    /// Data for the script, as JSON.
    carried: String,
    tab: Tab,
}

/// The selected tab and its data.
enum Tab {
    Graph,
    Text,
    Versions(Page<VersionView>),
    Runs(Box<runs::RunsTab>),
    Schedule(Box<schedule::ScheduleTab>),
    Hooks(Vec<HookView>),
}

impl Tab {
    fn is(&self, word: &str) -> bool {
        let own = match self {
            Self::Graph => "graph",
            Self::Text => "text",
            Self::Versions(_) => "versions",
            Self::Runs(_) => "runs",
            Self::Schedule(_) => "schedule",
            Self::Hooks(_) => "hooks",
        };
        own == word
    }
}

/// Query parameters.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    /// `graph`, `text`, `versions`, `runs`, `schedule` or `hooks`.
    tab: Option<String>,
    /// An older version to show as text and graph.
    version: Option<u32>,
    /// Next page of the versions or dates.
    cursor: Option<String>,
}

/// Text key of a back-fill's state.
pub(crate) fn backfill_state(state: &str) -> &'static str {
    match state {
        "running" => "schedule.backfill-running",
        "cancelled" => "schedule.backfill-cancelled",
        _ => "schedule.backfill-done",
    }
}

impl PipelinePage {
    fn is_newest(&self) -> bool {
        self.version.version == self.newest
    }

    /// URL of another tab.
    fn at(&self, tab: &str) -> String {
        let version =
            if self.is_newest() { String::new() } else { format!("&version={}", self.version.version) };
        let only = if matches!(tab, "graph" | "text") { version.as_str() } else { "" };
        format!("/projects/{}/pipelines/{}?tab={tab}{only}", self.project, self.name)
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    caller: Caller,
    frame: Frame,
    Path((project, name)): Path<(String, String)>,
    Query(wanted): Query<Wanted>,
) -> ApiResult<Response> {
    let missing = || ApiError::not_found("pipeline", &name);
    let newest = web.store().newest(&project, &name).await?.ok_or_else(missing)?;
    let number = newest.version;
    let version = match wanted.version.filter(|version| *version != number) {
        None => newest,
        Some(version) => web.store().pipeline(&project, &name, version).await?.ok_or_else(missing)?,
    };
    let view = checked(&web, &project, &caller.user.name, version.document.clone(), frame.lang).await?;
    let tab = tab(&web, &frame, &project, &name, &wanted).await?;
    let description = description(&version).await?;
    let carried = carry(&project, &name, &version, number, &view)?;
    let error = serde_json::to_value(Severity::Error).map_err(ApiError::internal)?;
    let errors = view.problems.iter().filter(|problem| error == problem.severity.as_str()).count();
    let page = PipelinePage {
        frame,
        project,
        description,
        name,
        newest: number,
        errors,
        warnings: view.problems.len() - errors,
        problems: view.problems,
        carried,
        version: version.into(),
        tab,
    };
    html(&page)
}

async fn description(version: &PipelineVersion) -> ApiResult<String> {
    let document = plan::parse(version.document.clone()).await?.ok();
    Ok(document.and_then(|document| document.pipeline.description).unwrap_or_default())
}

fn carry(
    project: &str,
    name: &str,
    version: &PipelineVersion,
    newest: u32,
    view: &CheckedView,
) -> ApiResult<String> {
    carried(&json!({
        "project": project,
        "pipeline": name,
        "version": version.version,
        "newest": newest,
        "document": version.document,
        "problems": view.problems,
        "parameters": view.parameters,
        "tasks": view.tasks,
        "code": version.code,
    }))
}

async fn tab(web: &Web, frame: &Frame, project: &str, name: &str, wanted: &Wanted) -> ApiResult<Tab> {
    Ok(match wanted.tab.as_deref() {
        Some("text") => Tab::Text,
        Some("versions") => Tab::Versions(versions::page(web, project, name, wanted.cursor.clone()).await?),
        Some("runs") => Tab::Runs(Box::new(runs::tab(web, project, name).await?)),
        Some("schedule") => Tab::Schedule(Box::new(schedule::tab(web, project, name, wanted).await?)),
        Some("hooks") if frame.may_edit() => Tab::Hooks(hooks::all(web, project, name).await?),
        _ => Tab::Graph,
    })
}
