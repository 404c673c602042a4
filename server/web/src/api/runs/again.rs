//! `POST /runs/{run}/again`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_domain::RunId;

use super::view::StartedView;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument, ProblemView};
use crate::extract::{Json, Path};
use crate::runs::{reader, wish};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Starts a new run with the same pipeline version and parameters.
#[utoipa::path(
    post,
    path = "/runs/{run}/again",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id.")),
    responses(
        (status = 201, body = StartedView, headers(("Location" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn again(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(run): Path<RunId>,
) -> ApiResult<Response> {
    let started = wish::again(&web, &caller, &reader::record(&web, &run).await?).await?;
    let place = format!("/api/v1/runs/{}", started.record.id);
    let view = StartedView {
        run: told(lang, reader::shown(&web, &started.record).await?),
        warnings: started.warnings.iter().map(|one| ProblemView::told(one, lang)).collect(),
    };
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(view)).into_response())
}
