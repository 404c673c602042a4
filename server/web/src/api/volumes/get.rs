//! `GET /projects/{project}/volumes/{volume}`

use axum::extract::State;

use super::view::VolumeView;
use crate::error::ApiResult;
use crate::etag::Tagged;
use crate::extract::Path;
use crate::state::Web;
use crate::volumes;

/// Returns a volume of the project.
#[utoipa::path(
    get,
    path = "/projects/{project}/volumes/{volume}",
    tag = "volumes",
    params(("project" = String, Path), ("volume" = String, Path)),
    responses((status = 200, body = VolumeView, headers(("ETag" = String))))
)]
pub(crate) async fn get(
    State(web): State<Web>,
    Path((project, name)): Path<(String, String)>,
) -> ApiResult<Tagged<VolumeView>> {
    let volume = volumes::find(&web, &project, &name).await?;
    Ok(Tagged(volume.revision, VolumeView::of(&web, volume).await?))
}
