//! `GET /templates/{template}`

use axum::extract::State;

use super::{TemplateView, detail};
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Returns the default version of a task template.
///
/// Tasks that name no version use this one.
#[utoipa::path(
    get,
    path = "/templates/{template}",
    tag = "templates",
    params(("template" = String, Path)),
    responses(
        (status = 200, body = TemplateView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(State(web): State<Web>, Path(name): Path<String>) -> ApiResult<Json<TemplateView>> {
    Ok(Json(detail(&web, name, None).await?))
}
