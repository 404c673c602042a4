//! `GET /projects/{project}/pipelines/{pipeline}/schedule/history`

use std::collections::BTreeMap;

use axum::extract::State;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::schedule::Firing;
use cubeloom_domain::{RunId, Timestamp};
use cubeloom_store::FiringFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::DateView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Filters of a pipeline's dates.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// Filters by the ID of a back-fill.
    pub backfill: Option<String>,
    /// Number of items, from 1 to 200. Defaults to 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Lists the requested dates of a pipeline with their results, newest first.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/schedule/history",
    tag = "schedules",
    params(("project" = String, Path), ("pipeline" = String, Path), HistoryQuery),
    responses(
        (status = 200, body = Page<DateView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn history(
    State(web): State<Web>,
    Path((project, pipeline)): Path<(String, String)>,
    Query(query): Query<HistoryQuery>,
) -> ApiResult<Json<Page<DateView>>> {
    if web.store().newest(&project, &pipeline).await?.is_none() {
        return Err(ApiError::not_found("pipeline", &pipeline));
    }
    Ok(Json(listed(&web, &project, &pipeline, &query).await?))
}

/// A page of a pipeline's dates.
///
/// # Errors
/// The query is invalid.
pub(crate) async fn listed(
    web: &Web,
    project: &str,
    pipeline: &str,
    query: &HistoryQuery,
) -> ApiResult<Page<DateView>> {
    let page = PageQuery { limit: query.limit, cursor: query.cursor.clone() };
    let limit = page.limit()?;
    let before = page.after()?.map(|text| text.parse::<i64>());
    let before =
        before.transpose().map_err(|_| ApiError::field("/cursor", "the cursor is not from this list"))?;
    let filter = FiringFilter {
        projects: Some(vec![project.into()]),
        pipeline: Some(pipeline.into()),
        backfill: query.backfill.clone(),
        before: before.map(Timestamp),
        limit: limit + 1,
        ..FiringFilter::default()
    };
    let found = Page::of(web.store().firings(&filter).await?, limit, |firing| firing.date.0.to_string());
    let next_cursor = found.next_cursor;
    Ok(Page { items: views(web, found.items).await?, next_cursor })
}

/// Views of dates with the states of their runs.
pub(crate) async fn views(web: &Web, firings: Vec<Firing>) -> ApiResult<Vec<DateView>> {
    let ids: Vec<RunId> = firings.iter().filter_map(|firing| firing.run.clone()).collect();
    let runs: BTreeMap<RunId, RunRecord> =
        web.store().runs_of(&ids).await?.into_iter().map(|run| (run.id.clone(), run)).collect();
    let now = web.now();
    let view = |firing: Firing| {
        let run = firing.run.as_ref().and_then(|run| runs.get(run));
        let run_state = run.map(|run| run.state.as_str().to_owned());
        let late = run.is_some_and(|run| run.cause.is_late(run.state, run.ended_at, now));
        DateView { run_state, late, ..DateView::new(firing) }
    };
    Ok(firings.into_iter().map(view).collect())
}
