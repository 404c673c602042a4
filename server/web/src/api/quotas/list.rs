//! `GET /quotas`

use axum::extract::State;

use super::view::QuotasView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::Json;
use crate::quotas;
use crate::state::Web;

/// The tree of quotas: what each cluster and node group has, and what groups and projects are guaranteed, hold, borrow and
/// lend of it. Members see their own projects; of others they see the sums.
#[utoipa::path(get, path = "/quotas", tag = "quotas", responses((status = 200, body = QuotasView)))]
pub(crate) async fn list(State(web): State<Web>, caller: Caller) -> ApiResult<Json<QuotasView>> {
    Ok(Json(quotas::shown(&web, &caller).await?))
}
