//! `GET /runs/{run}`

use axum::extract::State;
use cubeloom_domain::RunId;

use super::view::RunView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::{Reader, effective, queued};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Returns a run.
#[utoipa::path(
    get,
    path = "/runs/{run}",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id.")),
    responses(
        (status = 200, body = RunView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(
    State(web): State<Web>,
    lang: Lang,
    Path(run): Path<RunId>,
) -> ApiResult<Json<RunView>> {
    let reader = Reader::open(&web, &run).await?;
    let effective = effective::of(&web, &reader, None).await?;
    let wait = queued::of(&web, &reader).await?;
    Ok(Json(told(lang, RunView { effective, wait, ..reader.run() })))
}
