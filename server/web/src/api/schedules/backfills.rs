//! `GET /projects/{project}/pipelines/{pipeline}/backfills`

use axum::extract::State;
use cubeloom_domain::schedule::PipelineName;

use super::view::BackfillView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the back-fills of a pipeline, newest first.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/backfills",
    tag = "schedules",
    params(("project" = String, Path), ("pipeline" = String, Path), PageQuery),
    responses(
        (status = 200, body = Page<BackfillView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn backfills(
    State(web): State<Web>,
    Path((project, pipeline)): Path<(String, String)>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<BackfillView>>> {
    if web.store().newest(&project, &pipeline).await?.is_none() {
        return Err(ApiError::not_found("pipeline", &pipeline));
    }
    Ok(Json(listed(&web, PipelineName { project, pipeline }, &query).await?))
}

/// A page of a pipeline's back-fills.
///
/// # Errors
/// The query is invalid.
pub(crate) async fn listed(web: &Web, of: PipelineName, query: &PageQuery) -> ApiResult<Page<BackfillView>> {
    let (limit, before) = (query.limit()?, query.after()?);
    let found = web.store().backfills(&of, before.as_deref(), limit + 1).await?;
    let found = Page::of(found, limit, |backfill| backfill.id.clone());
    let mut items = Vec::with_capacity(found.items.len());
    for backfill in found.items {
        let counts = web.store().backfill_counts(&backfill.id).await?;
        items.push(BackfillView::new(backfill, counts));
    }
    Ok(Page { items, next_cursor: found.next_cursor })
}
