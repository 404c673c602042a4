//! `PUT /projects/{project}/budgets/{month}`

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::accounting::Money;
use cubeloom_domain::accounting::budget::Budget;

use super::view::{BudgetBody, BudgetView, audited, of_month, open_month};
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Sets the monthly budget of a project from this month until the next budget. `If-Match` is the ETag of the budget
/// that already begins in this month, or `*`.
#[utoipa::path(
    put,
    path = "/projects/{project}/budgets/{month}",
    tag = "accounting",
    params(
        ("project" = String, Path),
        ("month" = String, Path, description = "The month, UTC, e.g. 2026-01; this month or a later one"),
        ("If-Match" = String, Header)
    ),
    request_body = BudgetBody,
    responses(
        (status = 200, body = BudgetView, headers(("ETag" = String))),
        (status = 201, body = BudgetView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn put(
    State(web): State<Web>,
    caller: Caller,
    Path((project, month)): Path<(String, String)>,
    IfMatch(expected): IfMatch,
    Json(body): Json<BudgetBody>,
) -> ApiResult<Response> {
    let month = open_month(&web, &month)?;
    let amount = read(&body)?;
    let before = of_month(&web, &project, month).await?;
    let BudgetBody { warn_percent, stop, .. } = body;
    let budget = Budget { project: project.clone(), month, amount, warn_percent, stop, revision: 1 };
    let mut entry = audit::entry(&web, &caller, "budget.put", month.to_string()).after(audited(&budget));
    if let Some(before) = &before {
        entry = entry.before(audited(before));
    }
    let change = web.store().put_budget(&budget, expected, &entry).await?;
    let revision = changed(change, "budget", &month.to_string())?;
    let status = if before.is_some() { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Tagged(revision, BudgetView::from(Budget { revision, ..budget }))).into_response())
}

fn read(body: &BudgetBody) -> ApiResult<Option<Money>> {
    let mut found = Found::default();
    if !(1..=100).contains(&body.warn_percent) {
        found.wrong("/warn_percent", format!("it is {}: it must be from 1 to 100", body.warn_percent));
    }
    let amount = match body.amount.as_deref().map(|text| text.parse::<Money>()) {
        None => None,
        Some(Ok(Money(0))) => {
            found.wrong("/amount", "must be greater than 0");
            None
        }
        Some(Ok(amount)) => Some(amount),
        Some(Err(error)) => {
            found.wrong("/amount", error.to_string());
            None
        }
    };
    found.refuse()?;
    Ok(amount)
}
