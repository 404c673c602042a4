//! `POST /projects/{project}/pipelines`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_store::{Expected, PutPipeline};

use super::put::{entry, saved, view};
use super::view::{NewDocument, PipelineView};
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::{Json, Path};
use crate::pipelines::{Sent, accept};
use crate::state::Web;
use crate::texts::Lang;

/// Creates a pipeline from a document.
///
/// The document contains the name of the pipeline. A well-formed document is stored even if it cannot run here yet.
/// In this case, `problems` in the response lists the reasons.
#[utoipa::path(
    post,
    path = "/projects/{project}/pipelines",
    tag = "pipelines",
    params(("project" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = NewDocument,
    responses(
        (status = 201, body = PipelineView, headers(("ETag" = String), ("Location" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(project): Path<String>,
    Json(new): Json<NewDocument>,
) -> ApiResult<Response> {
    let sent = Sent { document: new.document, message: new.message, code: new.code };
    let accepted = accept(&web, &caller, &project, sent).await?;
    let name = accepted.new.name.clone();
    let entry = entry(&web, &caller, "pipeline.create", &accepted);
    match web.store().put_pipeline(&accepted.new, Expected::New, &entry).await? {
        PutPipeline::Stored(version) | PutPipeline::Same(version) => {
            web.live().saved(saved(&accepted, version));
            let place = format!("/api/v1/projects/{project}/pipelines/{name}");
            let view = Tagged(u64::from(version), view(accepted, version, lang));
            Ok((StatusCode::CREATED, [(header::LOCATION, place)], view).into_response())
        }
        PutPipeline::Missing => Err(ApiError::not_found("project", &project)),
        PutPipeline::Exists | PutPipeline::Stale(_) => Err(ApiError::conflict(format!(
            "the project has a pipeline `{name}`: change its name in the document, or change that pipeline with PUT"
        ))),
    }
}
