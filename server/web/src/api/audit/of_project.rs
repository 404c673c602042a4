//! `GET /projects/{project}/audit`

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};

use super::export::{AuditFormat, AuditFormatQuery, export};
use super::{AuditQuery, AuditView, page};
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists all changes, denied requests and exports in a project, newest first. Returns pages of JSON, or the whole log
/// as a table (`text/csv`) or as JSON lines (`application/x-ndjson`).
#[utoipa::path(
    get,
    path = "/projects/{project}/audit",
    tag = "people",
    params(("project" = String, Path), AuditQuery, AuditFormatQuery, PageQuery),
    responses(
        (status = 200, content(
            (Page<AuditView> = "application/json"), (String = "text/csv"), (String = "application/x-ndjson")
        ))
    )
)]
pub(crate) async fn of_project(
    State(web): State<Web>,
    caller: Caller,
    headers: HeaderMap,
    Path(project): Path<String>,
    Query(wanted): Query<AuditQuery>,
    Query(format): Query<AuditFormatQuery>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Response> {
    let wanted = AuditQuery { project: Some(project), ..wanted };
    match format.of(&headers) {
        AuditFormat::Json => Ok(Json(page(&web, wanted, &query).await?).into_response()),
        format => export(web, &caller, wanted, format).await,
    }
}
