//! `POST /templates`

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_store::Stored;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{TemplateView, detail};
use crate::audit::Act;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;
use crate::templates;

/// A template to install.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTemplate {
    /// Its document, YAML or JSON.
    pub document: String,
}

/// Installs a task template for every project. A version never changes: the same document again is answered with 200,
/// another one of the same version is refused.
#[utoipa::path(
    post,
    path = "/templates",
    tag = "templates",
    request_body = NewTemplate,
    responses(
        (status = 201, body = TemplateView, headers(("Location" = String))),
        (status = 200, body = TemplateView, description = "It is there already."),
        (status = 409, description = "The version is there with other content.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn install(
    State(web): State<Web>,
    caller: Caller,
    Json(sent): Json<NewTemplate>,
) -> ApiResult<Response> {
    let work = move || templates::read(&sent.document);
    let read = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?;
    let installed = read.map_err(ApiError::invalid)?;
    let (name, version) = (installed.template.name.clone(), installed.template.version.clone());
    let stored = templates::install(&Act::of(&web, &caller), &installed).await?;
    web.add_template(installed);
    let view = detail(&web, name.clone(), Some(version.clone())).await?;
    if stored == Stored::Same {
        return Ok(Json(view).into_response());
    }
    let place = format!("/api/v1/templates/{name}/versions/{version}");
    let place = HeaderValue::from_str(&place).map_err(ApiError::internal)?;
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(view)).into_response())
}
