//! `DELETE /runs/{run}/terminals/{terminal}`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::RunId;

use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::Path;
use crate::state::Web;

/// Closes a terminal, regardless of who opened it.
///
/// Its shell and all processes started in it have then ended.
#[utoipa::path(
    delete,
    path = "/runs/{run}/terminals/{terminal}",
    tag = "terminals",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("terminal" = String, Path, description = "The terminal.")
    ),
    responses(
        (status = 204),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn close(
    State(web): State<Web>,
    caller: Caller,
    Path((run, terminal)): Path<(RunId, String)>,
) -> ApiResult<StatusCode> {
    web.terminals().find(&run, &terminal)?.close(&caller).await;
    Ok(StatusCode::NO_CONTENT)
}
