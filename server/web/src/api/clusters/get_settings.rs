//! `GET /clusters/{cluster}/settings`

use axum::extract::State;

use super::settings::AddedClusterView;
use crate::error::{ApiError, ApiResult};
use crate::etag::Tagged;
use crate::extract::Path;
use crate::state::Web;

/// Returns the settings of a cluster that was added, without its kubeconfig.
#[utoipa::path(
    get,
    path = "/clusters/{cluster}/settings",
    tag = "clusters",
    params(("cluster" = String, Path)),
    responses((status = 200, body = AddedClusterView, headers(("ETag" = String))))
)]
pub(crate) async fn get_settings(
    State(web): State<Web>,
    Path(name): Path<String>,
) -> ApiResult<Tagged<AddedClusterView>> {
    let record = web.store().cluster(&name).await?.ok_or_else(|| ApiError::not_found("cluster", &name))?;
    Ok(Tagged(record.revision, record.into()))
}
