//! `GET /projects/{project}/budget`

use axum::extract::State;

use super::view::BudgetStandingView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Returns how much of this month's budget a project has spent. Returns a not-found error if no budget limits the
/// project.
#[utoipa::path(
    get,
    path = "/projects/{project}/budget",
    tag = "accounting",
    params(("project" = String, Path)),
    responses(
        (status = 200, body = BudgetStandingView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn current(
    State(web): State<Web>,
    Path(project): Path<String>,
) -> ApiResult<Json<BudgetStandingView>> {
    let standing = web.store().budget_standing(&project, web.now()).await?;
    let standing = standing.ok_or_else(|| ApiError::not_found("budget", &project))?;
    Ok(Json((&standing).into()))
}
