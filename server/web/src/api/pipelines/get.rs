//! `GET /projects/{project}/pipelines/{pipeline}`

use axum::extract::State;

use super::view::{PipelineView, VersionView};
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::Path;
use crate::plan;
use crate::state::Web;
use crate::texts::Lang;

/// Gets a pipeline with its newest document.
///
/// The ETag is the number of the newest version.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}",
    tag = "pipelines",
    params(("project" = String, Path), ("pipeline" = String, Path)),
    responses(
        (status = 200, body = PipelineView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path((project, name)): Path<(String, String)>,
) -> ApiResult<Tagged<PipelineView>> {
    let missing = || ApiError::not_found("pipeline", &name);
    let newest = web.store().newest(&project, &name).await?.ok_or_else(missing)?;
    let (_, problems) =
        plan::check(web.planner(), &project, &caller.acting(), newest.document.clone()).await?;
    let document = plan::parse(newest.document.clone()).await?.map_err(ApiError::invalid)?;
    let version = newest.version;
    let view = PipelineView::new(&project, &document.pipeline, VersionView::from(newest), &problems, lang);
    Ok(Tagged(u64::from(version), view))
}
