//! `DELETE /projects/{project}/budgets/{month}`

use axum::extract::State;
use axum::http::StatusCode;

use super::view::{audited, of_month, open_month};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Deletes the budget that begins in a month. The previous budget then continues to apply.
#[utoipa::path(
    delete,
    path = "/projects/{project}/budgets/{month}",
    tag = "accounting",
    params(("project" = String, Path), ("month" = String, Path), ("If-Match" = String, Header)),
    responses(
        (status = 204),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn delete(
    State(web): State<Web>,
    caller: Caller,
    Path((project, month)): Path<(String, String)>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    let month = open_month(&web, &month)?;
    let missing = || ApiError::not_found("budget", month);
    let budget = of_month(&web, &project, month).await?.ok_or_else(missing)?;
    let entry = audit::entry(&web, &caller, "budget.delete", month.to_string()).before(audited(&budget));
    let change = web.store().delete_budget(&project, month, expected, &entry).await?;
    changed(change, "budget", &month.to_string())?;
    Ok(StatusCode::NO_CONTENT)
}
