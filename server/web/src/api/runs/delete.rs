//! `DELETE /runs/{run}`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::RunId;

use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::Path;
use crate::runs::{reader, remove};
use crate::state::Web;

/// Deletes a finished run and all of its data on the server.
#[utoipa::path(
    delete,
    path = "/runs/{run}",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id.")),
    responses(
        (status = 204),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn delete(
    State(web): State<Web>,
    caller: Caller,
    Path(run): Path<RunId>,
) -> ApiResult<StatusCode> {
    let record = reader::record(&web, &run).await?;
    remove::remove(&web, &caller, &record).await?;
    web.live().deleted(&record);
    Ok(StatusCode::NO_CONTENT)
}
