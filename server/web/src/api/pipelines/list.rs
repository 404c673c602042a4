//! `GET /projects/{project}/pipelines`

use axum::extract::State;
use cubeloom_domain::Timestamp;
use cubeloom_store::{PipelineFilter, PipelineOrder, PipelineSummary};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::PipelineSummaryView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::sort::Sort;
use crate::state::Web;

/// Number of recent runs per pipeline.
const RUNS: usize = 10;

/// Sort keys of pipelines.
#[derive(Clone, Copy, Debug)]
enum By {
    Name,
    Updated,
    LastRun,
}

/// Values of `sort`.
const ORDERS: [(&str, By); 3] = [("name", By::Name), ("updated", By::Updated), ("last_run", By::LastRun)];

/// Filters and order of pipelines.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only pipelines whose name, description or labels contain this text, ignoring case.
    pub q: Option<String>,
    /// Filters by label, in the form `name=value`.
    pub label: Option<String>,
    /// Sort order: `name`, `updated` (time when the newest version was stored) or `last_run`. The prefix `-` sorts in
    /// descending order. With `last_run`, pipelines without runs come first.
    pub sort: Option<String>,
    /// Number of items, from 1 to 200. Defaults to 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Lists the pipelines of a project.
///
/// Pipelines are sorted by name unless `sort` is set.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines",
    tag = "pipelines",
    params(("project" = String, Path), ListQuery),
    responses(
        (status = 200, body = Page<PipelineSummaryView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(query): Query<ListQuery>,
) -> ApiResult<Json<Page<PipelineSummaryView>>> {
    Ok(Json(summaries(&web, project, query).await?))
}

/// Pipelines of a project, each with recent runs.
///
/// # Errors
/// The query is invalid.
pub(crate) async fn summaries(
    web: &Web,
    project: String,
    query: ListQuery,
) -> ApiResult<Page<PipelineSummaryView>> {
    let page = PageQuery { limit: query.limit, cursor: query.cursor };
    let limit = page.limit()?;
    let sort = Sort::read(query.sort.as_deref(), &ORDERS)?;
    let filter = PipelineFilter {
        projects: Some(vec![project.clone()]),
        text: query.q.filter(|text| !text.trim().is_empty()).map(|text| text.trim().to_owned()),
        label: query.label.filter(|label| !label.is_empty()).map(|label| split(&label)).transpose()?,
        order: order(&page, &sort, &project)?,
        descending: sort.descending,
        limit: Some(limit + 1),
    };
    let found = web.store().pipelines(&filter).await?;
    let found = Page::sorted(found, limit, &sort.word(), |item| place(item, sort.by));
    let names: Vec<String> = found.items.iter().map(|item| item.name.clone()).collect();
    let mut runs = web.store().last_runs(&project, &names, RUNS).await?;
    Ok(found.map(|item| {
        let runs = runs.remove(&item.name).unwrap_or_default();
        PipelineSummaryView::new(item, runs)
    }))
}

/// The order, from the end of the previous page.
fn order(page: &PageQuery, sort: &Sort<By>, project: &str) -> ApiResult<PipelineOrder> {
    let (word, project) = (sort.word(), project.to_owned());
    Ok(match sort.by {
        By::Name => PipelineOrder::Name(page.place::<String>(&word)?.map(|name| (name, project))),
        By::Updated => {
            let last = page.place::<(i64, String)>(&word)?;
            PipelineOrder::Changed(last.map(|(at, name)| (Timestamp(at), name, project)))
        }
        By::LastRun => {
            let last = page.place::<(String, String)>(&word)?;
            PipelineOrder::LastRun(last.map(|(run, name)| (run, name, project)))
        }
    })
}

/// Position of a pipeline in the list, which [`order`] reads.
fn place(item: &PipelineSummary, by: By) -> Value {
    match by {
        By::Name => json!(item.name),
        By::Updated => json!([item.created_at.0, item.name]),
        By::LastRun => json!([item.last_run, item.name]),
    }
}

fn split(label: &str) -> ApiResult<(String, String)> {
    let parts = label.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    parts.ok_or_else(|| ApiError::field("/label", format!("`{label}` is not a label: use name=value")))
}
