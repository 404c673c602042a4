//! `GET /projects/{project}/audit`

use axum::extract::State;

use super::{AuditQuery, AuditView, page};
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Every change in a project, the newest first.
#[utoipa::path(
    get,
    path = "/projects/{project}/audit",
    tag = "people",
    params(("project" = String, Path), AuditQuery, PageQuery),
    responses((status = 200, body = Page<AuditView>))
)]
pub(crate) async fn of_project(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(wanted): Query<AuditQuery>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<AuditView>>> {
    Ok(Json(page(&web, AuditQuery { project: Some(project), ..wanted }, &query).await?))
}
