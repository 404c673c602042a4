//! `POST /projects/{project}/import`

use cubeloom_compiler::import::{Imported, cube_studio};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::runs::describe;
use crate::state::Web;

/// The endpoint.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(import))
}

/// Files of another platform.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FilesToImport {
    /// Where they come from: `cube-studio`, also when absent.
    #[serde(default)]
    pub from: Option<String>,
    /// The text of a file of pipelines or of job templates, JSON.
    pub file: String,
    /// The text of a file of the job templates that the pipelines use.
    #[serde(default)]
    pub templates: Option<String>,
    /// What the pipeline is to be called, when the file has one.
    #[serde(default)]
    pub name: Option<String>,
}

/// What became of the files. Nothing is stored.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportView {
    /// The documents that were made.
    pub documents: Vec<ImportedView>,
    /// What could not be carried over as it was.
    pub report: Vec<ImportLine>,
}

/// A document that was made.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportedView {
    /// `pipeline` or `task_template`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its text, YAML.
    pub document: String,
    /// The report's sentences about it.
    pub notes: Vec<String>,
}

/// What became of one value of the files.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportLine {
    /// `changed`, `left_out`, or `problem`: somebody has to do something.
    pub fate: String,
    /// Where it stands: a JSON pointer, in the second file with `templates:` before it.
    pub path: String,
    /// A sentence.
    pub message: String,
}

/// Makes documents of another platform's files, without storing them.
#[utoipa::path(
    post,
    path = "/projects/{project}/import",
    tag = "pipelines",
    params(("project" = String, Path)),
    request_body = FilesToImport,
    responses(
        (status = 200, body = ImportView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
async fn import(Json(sent): Json<FilesToImport>) -> ApiResult<Json<ImportView>> {
    if let Some(from) = sent.from.as_deref().filter(|from| *from != "cube-studio") {
        let message = format!("`{from}` is not read here; what is read is `cube-studio`");
        return Err(ApiError::field("/from", message));
    }
    let work = move || cube_studio::import(&sent.file, sent.templates.as_deref(), sent.name.as_deref());
    let made = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?;
    let made = made.map_err(|message| ApiError::field("/file", message))?;
    Ok(Json(view(made)))
}

fn view(made: Imported) -> ImportView {
    let documents = made.documents.into_iter().map(|one| ImportedView {
        kind: describe::word(&one.kind),
        name: one.name,
        document: one.document,
        notes: one.notes,
    });
    let report = made.report.into_iter().map(|line| ImportLine {
        fate: describe::word(&line.fate),
        path: line.path,
        message: line.message,
    });
    ImportView { documents: documents.collect(), report: report.collect() }
}
