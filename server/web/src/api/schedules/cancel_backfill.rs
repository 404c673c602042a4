//! `POST /projects/{project}/pipelines/{pipeline}/backfills/{backfill}/cancel`

use axum::extract::State;
use cubeloom_store::FiringFilter;
use serde_json::json;

use super::backfill::{Names, of_route};
use super::view::{BackfillView, CancelBackfill};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::wish;
use crate::state::Web;

/// Cancels a back-fill.
///
/// Dates that have not started do not start. With `runs`, active runs of the back-fill are also cancelled.
#[utoipa::path(
    post,
    path = "/projects/{project}/pipelines/{pipeline}/backfills/{backfill}/cancel",
    tag = "schedules",
    params(("project" = String, Path), ("pipeline" = String, Path), ("backfill" = String, Path)),
    request_body = CancelBackfill,
    responses(
        (status = 200, body = BackfillView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn cancel_backfill(
    State(web): State<Web>,
    caller: Caller,
    Path(names): Path<Names>,
    Json(how): Json<CancelBackfill>,
) -> ApiResult<Json<BackfillView>> {
    let found = of_route(&web, &names).await?;
    let entry = audit::entry(&web, &caller, "backfill.cancel", &found.id).project(&found.of.project);
    let entry = entry.after(json!({"pipeline": found.of.pipeline, "runs": how.runs}));
    if !web.store().cancel_backfill(&found.id, &caller.user.name, web.now(), &entry).await? {
        return Err(ApiError::conflict("the back-fill is cancelled already"));
    }
    if how.runs {
        stop_runs(&web, &caller, &found.id).await?;
    }
    let present = of_route(&web, &names).await?;
    let counts = web.store().backfill_counts(&present.id).await?;
    Ok(Json(BackfillView::new(present, counts)))
}

async fn stop_runs(web: &Web, caller: &Caller, backfill: &str) -> ApiResult<()> {
    let filter = FiringFilter {
        backfill: Some(backfill.into()),
        limit: super::dates::MOST,
        ..FiringFilter::default()
    };
    let ids: Vec<_> = web.store().firings(&filter).await?.into_iter().filter_map(|one| one.run).collect();
    for run in web.store().runs_of(&ids).await?.iter().filter(|run| !run.state.is_final()) {
        // It may have ended in the meantime.
        match wish::cancel(web, caller, run).await {
            Ok(()) => {}
            Err(error) if error.kind() == crate::error::Kind::Conflict => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
