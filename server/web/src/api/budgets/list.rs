//! `GET /projects/{project}/budgets`

use axum::extract::State;

use super::view::BudgetView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the budgets of a project, by the month in which each begins.
#[utoipa::path(
    get,
    path = "/projects/{project}/budgets",
    tag = "accounting",
    params(("project" = String, Path), PageQuery),
    responses(
        (status = 200, body = Page<BudgetView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<BudgetView>>> {
    let mut budgets: Vec<BudgetView> =
        web.store().budgets(&project).await?.into_iter().map(BudgetView::from).collect();
    budgets.reverse();
    Ok(Json(Page::cut(budgets, &query, |budget| budget.month.clone())?))
}
