//! `GET /projects/{project}/statements/{month}`

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::StatementView;
use crate::accounting::csv::{self, TableFormat};
use crate::accounting::month;
use crate::accounting::statement::statement;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::state::Web;

/// Format of the statement.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StatementQuery {
    /// Response format: `json`, or `csv` for a table. If omitted, the `Accept` header decides.
    #[param(inline)]
    pub format: Option<TableFormat>,
}

/// Returns the statement of a project for a month: allocations, prices and cost.
///
/// The format is JSON, or a table (`text/csv`).
#[utoipa::path(
    get,
    path = "/projects/{project}/statements/{month}",
    tag = "accounting",
    params(
        ("project" = String, Path),
        ("month" = String, Path, description = "The month, UTC, e.g. 2026-01"),
        StatementQuery
    ),
    responses(
        (status = 200, content((StatementView = "application/json"), (String = "text/csv"))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(
    State(web): State<Web>,
    headers: HeaderMap,
    Path((project, text)): Path<(String, String)>,
    Query(query): Query<StatementQuery>,
) -> ApiResult<Response> {
    let made = statement(&web, &project, month(&text)?).await?;
    let view = StatementView::new(made, web.settings().currency.clone());
    if !csv::wanted(query.format, &headers) {
        return Ok(Json(view).into_response());
    }
    let (head, rows) = view.table();
    csv::file(&format!("statement-{}-{}.csv", view.project, view.month), &head, rows)
}
