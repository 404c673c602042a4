//! `GET /projects/{project}/pipelines/{pipeline}/grid`

use axum::extract::State;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_store::{FIRST_TASKS, RunFilter};
use serde::Deserialize;
use utoipa::IntoParams;

use super::grid_view::{DurationsView, GridRunView, GridView};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::pipelines::grid_tasks;
use crate::plan;
use crate::runs::grid::columns;
use crate::state::Web;
use crate::time::seconds;

/// Default number of runs.
const USUAL: usize = 25;
/// Maximum number of runs.
const MOST: usize = 100;

/// Runs in the grid.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GridQuery {
    /// Number of runs, from 1 to 100. Defaults to 25.
    #[param(minimum = 1, maximum = 100)]
    pub limit: Option<usize>,
    /// `next_cursor` of the grid with newer runs.
    pub cursor: Option<String>,
}

/// Returns the newest runs of a pipeline by their tasks.
///
/// The grid shows which task fails in which run, and how long the runs take. Runs that a task of another run has
/// started are included.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/grid",
    tag = "pipelines",
    params(("project" = String, Path), ("pipeline" = String, Path), GridQuery),
    responses(
        (status = 200, body = GridView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn grid(
    State(web): State<Web>,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<GridQuery>,
) -> ApiResult<Json<GridView>> {
    Ok(Json(grid_of(&web, &project, &name, query).await?))
}

/// Runs of a pipeline by their tasks.
///
/// # Errors
/// The pipeline does not exist, or the query is invalid.
pub(crate) async fn grid_of(web: &Web, project: &str, name: &str, query: GridQuery) -> ApiResult<GridView> {
    let page = PageQuery { limit: Some(query.limit.unwrap_or(USUAL)), cursor: query.cursor };
    let limit = page.limit_to(MOST)?;
    let unknown = |_| ApiError::field("/cursor", "the cursor is not from this list: start without one");
    let before = page.after()?.map(|id| id.parse().map_err(unknown)).transpose()?;
    let document = document_tasks(web, project, name).await?;
    let filter = RunFilter {
        projects: Some(vec![project.to_owned()]),
        pipeline: Some(name.to_owned()),
        before,
        limit: Some(limit + 1),
        ..RunFilter::default()
    };
    let found = Page::of(web.store().runs(&filter).await?, limit, |run| run.id.to_string());
    let runs: Vec<RunRecord> = found.items.into_iter().rev().collect();
    let (tasks, more) = grid_tasks(&document, &columns(web, &runs).await?);
    Ok(GridView {
        tasks,
        truncated: more || runs.iter().any(|run| run.tasks as usize > FIRST_TASKS),
        durations: DurationsView::of(durations(&runs)),
        runs: runs.iter().map(GridRunView::from).collect(),
        next_cursor: found.next_cursor,
    })
}

/// Tasks of the newest version. None if this release cannot read its document.
async fn document_tasks(web: &Web, project: &str, name: &str) -> ApiResult<Vec<String>> {
    let newest = web.store().newest(project, name).await?;
    let newest = newest.ok_or_else(|| ApiError::not_found("pipeline", name))?;
    let document = plan::parse(newest.document).await?.ok();
    let tasks = document.map(|document| document.pipeline.tasks).unwrap_or_default();
    Ok(tasks.into_iter().map(|task| task.name).collect())
}

/// Durations of the runs that succeeded, in seconds.
fn durations(runs: &[RunRecord]) -> Vec<f64> {
    let succeeded = runs.iter().filter(|run| run.state == RunState::Succeeded);
    succeeded.filter_map(|run| seconds(run.started_at, run.ended_at)).collect()
}
