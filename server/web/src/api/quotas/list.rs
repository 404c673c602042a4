//! `GET /quotas`

use axum::extract::State;

use super::view::QuotasView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::Json;
use crate::quotas;
use crate::state::Web;

/// Gets the quota tree.
///
/// The tree contains the capacity of each cluster and node group. It shows what is guaranteed to groups and projects,
/// and what they use, borrow and lend. Members see their own projects. Other projects are included only in the sums.
#[utoipa::path(get, path = "/quotas", tag = "quotas", responses((status = 200, body = QuotasView)))]
pub(crate) async fn list(State(web): State<Web>, caller: Caller) -> ApiResult<Json<QuotasView>> {
    Ok(Json(quotas::shown(&web, &caller).await?))
}
