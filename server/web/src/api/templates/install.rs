//! `POST /templates`

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_domain::template::InstalledTemplate;
use cubeloom_store::Stored;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{TemplateView, detail};
use crate::audit::Act;
use crate::auth::Caller;
use crate::code::{Scratch, unpack};
use crate::error::{ApiError, ApiResult, Kind, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;
use crate::templates::{self, FolderError, TemplateFolder};

/// Maximum size of an archive, in bytes.
const ARCHIVE: usize = 4 << 20;

/// A template to install.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTemplate {
    /// Template document, YAML or JSON.
    pub document: String,
}

/// Installs a task template for every project.
///
/// The body is a document, or the template folder as a gzipped tar archive of at most 4 MiB. The folder may have 32
/// MiB in 1,000 files. It contains `template.yaml` and the programs that its commands name. A version never changes.
/// Sending the same content again returns 200. Different content for the same version is refused.
#[utoipa::path(
    post,
    path = "/templates",
    tag = "templates",
    request_body(content((NewTemplate = "application/json"), (Vec<u8> = "application/gzip"))),
    responses(
        (status = 201, body = TemplateView, headers(("Location" = String))),
        (status = 200, body = TemplateView, description = "It is already installed."),
        (status = 409, description = "The version exists with different content.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn install(State(web): State<Web>, caller: Caller, request: Request) -> ApiResult<Response> {
    let installed = match is_archive(&request) {
        true => from_archive(&web, request.into_body()).await?,
        false => from_document(Json::from_request(request, &web).await?).await?,
    };
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

async fn from_document(Json(sent): Json<NewTemplate>) -> ApiResult<InstalledTemplate> {
    let work = move || templates::read(&sent.document);
    let read = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?;
    read.map_err(ApiError::invalid)
}

fn is_archive(request: &Request) -> bool {
    let sent = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    sent.is_some_and(|sent| ["application/gzip", "application/x-gzip"].contains(&sent))
}

/// Installs a template from an archive of its folder: unpacks, validates and stores it where workers read it.
async fn from_archive(web: &Web, body: Body) -> ApiResult<InstalledTemplate> {
    let too_large = || {
        let sentence = format!("the archive has more than {} MiB: send programs only", ARCHIVE >> 20);
        ApiError::new(Kind::TooLarge, sentence)
    };
    let archive = to_bytes(body, ARCHIVE).await.map_err(|_| too_large())?;
    let place = web.folders().code.join(format!(".upload-{}", web.new_id()));
    let templates = web.folders().templates.clone();
    let work = move || {
        let scratch = Scratch::make(place).map_err(cannot_write)?;
        unpack(archive.as_ref(), &scratch.0, templates::LIMITS)?;
        TemplateFolder::read(&scratch.0).and_then(|folder| folder.keep(&templates)).map_err(refused)
    };
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?
}

fn refused(error: FolderError) -> ApiError {
    match error {
        FolderError::Problems(problems) => ApiError::invalid(problems),
        FolderError::Folder(error) => cannot_write(error),
    }
}

fn cannot_write(source: impl std::error::Error + Send + Sync + 'static) -> ApiError {
    ApiError::unavailable("the server cannot store the template's folder now: try again").caused_by(source)
}
