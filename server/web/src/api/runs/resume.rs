//! `POST /runs/{run}/resume`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::RunId;

use super::view::RunView;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::{reader, wish};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Resumes a run.
///
/// Tasks that failed, were stopped, or were not reached because of that are run. Tasks that succeeded are kept.
#[utoipa::path(
    post,
    path = "/runs/{run}/resume",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id.")),
    responses(
        (status = 202, body = RunView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn resume(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(run): Path<RunId>,
) -> ApiResult<(StatusCode, Json<RunView>)> {
    wish::resume(&web, &caller, &reader::record(&web, &run).await?).await?;
    let present = reader::record(&web, &run).await?;
    Ok((StatusCode::ACCEPTED, Json(told(lang, reader::shown(&web, &present).await?))))
}
