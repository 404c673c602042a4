//! `POST /runs/{run}/cancel`

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

/// Cancels a run.
///
/// Running tasks are stopped, and pending tasks do not start.
#[utoipa::path(
    post,
    path = "/runs/{run}/cancel",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id.")),
    responses(
        (status = 202, body = RunView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn cancel(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(run): Path<RunId>,
) -> ApiResult<(StatusCode, Json<RunView>)> {
    wish::cancel(&web, &caller, &reader::record(&web, &run).await?).await?;
    wish::settle(&web, std::slice::from_ref(&run)).await?;
    let present = reader::record(&web, &run).await?;
    Ok((StatusCode::ACCEPTED, Json(told(lang, reader::shown(&web, &present).await?))))
}
