//! `GET /clusters/{cluster}`

use axum::extract::State;

use super::view::ClusterDetail;
use crate::auth::Caller;
use crate::clusters;
use crate::error::ApiResult;
use crate::extract::{Json, Path};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Returns a cluster, its allocations, and the task templates that can run on it.
///
/// For projects that the caller is not a member of, only the number of attempts is returned.
#[utoipa::path(
    get,
    path = "/clusters/{cluster}",
    tag = "clusters",
    params(("cluster" = String, Path)),
    responses((status = 200, body = ClusterDetail))
)]
pub(crate) async fn get(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(name): Path<String>,
) -> ApiResult<Json<ClusterDetail>> {
    Ok(Json(told(lang, clusters::detail(&web, &caller, &name).await?)))
}
