//! `GET /projects/{project}/pipelines/{pipeline}/backfills/{backfill}`

use axum::extract::State;
use cubeloom_domain::schedule::Backfill;

use super::view::BackfillView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Path parameters of a back-fill.
pub(super) type Names = (String, String, String);

/// Gets a back-fill and its progress.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/backfills/{backfill}",
    tag = "schedules",
    params(("project" = String, Path), ("pipeline" = String, Path), ("backfill" = String, Path)),
    responses(
        (status = 200, body = BackfillView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn backfill(
    State(web): State<Web>,
    Path(names): Path<Names>,
) -> ApiResult<Json<BackfillView>> {
    let found = of_route(&web, &names).await?;
    let counts = web.store().backfill_counts(&found.id).await?;
    Ok(Json(BackfillView::new(found, counts)))
}

/// The back-fill of a route, which must belong to the route's pipeline.
pub(super) async fn of_route(web: &Web, (project, pipeline, id): &Names) -> ApiResult<Backfill> {
    let found = web.store().backfill(id).await?;
    let found = found.filter(|found| found.of.project == *project && found.of.pipeline == *pipeline);
    found.ok_or_else(|| ApiError::not_found("back-fill", id))
}
