//! `GET /usage`

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::{FIGURES, UsageGroup, UsageReport};
use crate::accounting::csv::{self, TableFormat};
use crate::accounting::report::{Asked, Wanted, report, total};
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Query};
use crate::state::Web;

/// What usage is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UsageQuery {
    /// The first day, UTC, e.g. `2026-01-01`; the first of the last day's month when absent.
    pub from: Option<String>,
    /// The last day, UTC; today when absent.
    pub to: Option<String>,
    /// `day`, `project`, `user`, `template`, `pipeline` or `node_group`, or two of them with a comma between; `project`
    /// when absent.
    pub by: Option<String>,
    /// Of this project only.
    pub project: Option<String>,
    /// `json`, or `csv` for a table; by `Accept` when absent.
    #[param(inline)]
    pub format: Option<TableFormat>,
}

/// What jobs of your projects held and used over a period, and what it costs; for administrators, of all projects. What
/// still runs is counted up to now. As JSON, or as a table (`text/csv`).
#[utoipa::path(
    get,
    path = "/usage",
    tag = "accounting",
    params(UsageQuery),
    responses(
        (status = 200, content((UsageReport = "application/json"), (String = "text/csv"))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(
    State(web): State<Web>,
    caller: Caller,
    headers: HeaderMap,
    Query(query): Query<UsageQuery>,
) -> ApiResult<Response> {
    let UsageQuery { from, to, by, project, format } = query;
    let wanted = Asked { from, to, by, project }.read(&web)?;
    let lines = report(&web, &caller, &wanted).await?;
    let view = UsageReport {
        from: wanted.period.first.to_string(),
        to: wanted.period.last.to_string(),
        currency: web.settings().currency.clone(),
        total: (&total(lines.iter().map(|(_, figures)| figures))).into(),
        groups: lines.iter().map(|(line, figures)| UsageGroup::new(line, figures)).collect(),
    };
    if csv::wanted(format, &headers) { table(&view, &wanted) } else { Ok(Json(view).into_response()) }
}

fn table(view: &UsageReport, wanted: &Wanted) -> ApiResult<Response> {
    let mut columns: Vec<&str> = Vec::new();
    for column in wanted.by.iter().flat_map(|by| UsageGroup::columns(*by)) {
        if !columns.contains(column) {
            columns.push(column);
        }
    }
    let row = |group: &UsageGroup| {
        let names = columns.iter().map(|column| group.cell(column));
        names.chain(group.figures.cells()).collect()
    };
    let rows = view.groups.iter().map(row).collect();
    let head: Vec<&str> = columns.iter().copied().chain(FIGURES).collect();
    csv::file(&format!("usage-{}-{}.csv", view.from, view.to), &head, rows)
}
