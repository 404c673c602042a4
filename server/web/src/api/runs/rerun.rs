//! `POST /runs/{run}/rerun`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::RunId;

use super::view::{RerunFrom, RunView};
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::{reader, wish};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Reruns the given tasks and all tasks downstream of them.
#[utoipa::path(
    post,
    path = "/runs/{run}/rerun",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id.")),
    request_body = RerunFrom,
    responses(
        (status = 202, body = RunView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn rerun(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(run): Path<RunId>,
    Json(body): Json<RerunFrom>,
) -> ApiResult<(StatusCode, Json<RunView>)> {
    wish::rerun(&web, &caller, &reader::record(&web, &run).await?, body.from).await?;
    let present = reader::record(&web, &run).await?;
    Ok((StatusCode::ACCEPTED, Json(told(lang, reader::shown(&web, &present).await?))))
}
