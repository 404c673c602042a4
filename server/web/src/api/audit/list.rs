//! `GET /audit`

use axum::extract::State;

use super::{AuditQuery, AuditView, page};
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Every change, the newest first: who, what, from where, before and after.
#[utoipa::path(
    get,
    path = "/audit",
    tag = "people",
    params(AuditQuery, PageQuery),
    responses((status = 200, body = Page<AuditView>))
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Query(wanted): Query<AuditQuery>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<AuditView>>> {
    Ok(Json(page(&web, wanted, &query).await?))
}
