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

/// Filters, period and grouping of usage.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UsageQuery {
    /// First day, UTC, e.g. `2026-01-01`. Defaults to the first day of the last day's month.
    pub from: Option<String>,
    /// Last day, UTC. Defaults to today.
    pub to: Option<String>,
    /// Grouping: `day`, `project`, `user`, `template`, `pipeline` or `node_group`, or two of them separated by a
    /// comma. Defaults to `project`.
    pub by: Option<String>,
    /// Project to filter by.
    pub project: Option<String>,
    /// Response format: `json`, or `csv` for a table. If omitted, the `Accept` header decides.
    #[param(inline)]
    pub format: Option<TableFormat>,
}

/// Returns the allocations, usage and cost of your projects' jobs over a period.
///
/// Administrators get the jobs of all projects. Jobs that still run are counted up to now. The format is JSON, or a
/// table (`text/csv`).
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
