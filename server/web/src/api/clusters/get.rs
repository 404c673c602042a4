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

/// A cluster, with what runs there and which task templates can. Of projects that the caller is no member of, only the
/// number of attempts is told.
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
