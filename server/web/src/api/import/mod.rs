//! `POST /projects/{project}/import`

mod files;
mod view;

use axum::extract::{DefaultBodyLimit, State};
use cubeloom_compiler::import::cube_studio;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};

use self::files::{BODY, FilesToImport};
use self::view::ImportView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::routes::routes;
use crate::state::Web;
use crate::texts::Lang;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(import).layer(DefaultBodyLimit::max(BODY)))
}

/// Converts files of another platform into documents, without storing them.
///
/// Send the files as form parts or as strings in a JSON document, 16 MiB each.
#[utoipa::path(
    post,
    path = "/projects/{project}/import",
    tag = "pipelines",
    params(("project" = String, Path)),
    request_body(content(
        (FilesToImport = "application/json"),
        (FilesToImport = "multipart/form-data")
    )),
    responses(
        (status = 200, body = ImportView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 413, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
async fn import(
    State(web): State<Web>,
    lang: Lang,
    Path(project): Path<String>,
    sent: FilesToImport,
) -> ApiResult<Json<ImportView>> {
    if let Some(from) = sent.from.as_deref().filter(|from| *from != "cube-studio") {
        let message = format!("`{from}` cannot be imported; supported is `cube-studio`");
        return Err(ApiError::field("/from", message));
    }
    let work = move || cube_studio::import(&sent.file, sent.templates.as_deref(), sent.name.as_deref());
    let made = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?;
    let made = made.map_err(|message| ApiError::field("/file", message))?;
    Ok(Json(view::view(&web, &project, made, lang).await?))
}
