//! `GET /limits`

use axum::extract::State;

use super::view::LimitsView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::Json;
use crate::named_limits;
use crate::state::Web;

/// Lists all concurrency limits that tasks may reference, with the number of jobs that use each now and the number
/// that are pending.
///
/// Jobs that use a limit are shown only for projects that you are a member of.
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
