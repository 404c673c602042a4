//! `GET /limits`

use axum::extract::State;

use super::view::LimitsView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::Json;
use crate::named_limits;
use crate::state::Web;

/// All limits that tasks may name, with how many hold each now and how many wait. Of who holds one, you see the jobs of
/// projects that you are in.
#[utoipa::path(
    get,
    path = "/limits",
    operation_id = "list_limits",
    tag = "limits",
    responses((status = 200, body = LimitsView))
)]
pub(crate) async fn list(State(web): State<Web>, caller: Caller) -> ApiResult<Json<LimitsView>> {
    Ok(Json(named_limits::shown(&web, &caller).await?))
}
