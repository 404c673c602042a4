//! `GET /audit`

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};

use super::export::{AuditFormat, AuditFormatQuery, export};
use super::{AuditQuery, AuditView, page};
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists all changes, denied requests and exports, newest first: user, action, origin, and the state before and
/// after. Returns pages of JSON, or the whole log as a table (`text/csv`) or as JSON lines (`application/x-ndjson`).
#[utoipa::path(
    get,
    path = "/audit",
    tag = "people",
    params(AuditQuery, AuditFormatQuery, PageQuery),
    responses(
        (status = 200, content(
            (Page<AuditView> = "application/json"), (String = "text/csv"), (String = "application/x-ndjson")
        ))
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    caller: Caller,
    headers: HeaderMap,
    Query(wanted): Query<AuditQuery>,
    Query(format): Query<AuditFormatQuery>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Response> {
    match format.of(&headers) {
        AuditFormat::Json => Ok(Json(page(&web, wanted, &query).await?).into_response()),
        format => export(web, &caller, wanted, format).await,
    }
}
