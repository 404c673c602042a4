//! `GET /projects/{project}/compare?runs=`: several runs in one table, which the page's script draws.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::{Frame, carried, html};
use crate::api::runs::compare_many::{self, CompareRunsQuery};
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::state::Web;
use crate::told::told;

#[derive(Template)]
#[template(path = "runs-compare.html")]
struct RunsComparePage {
    frame: Frame,
    project: String,
    /// Number of runs.
    count: usize,
    /// Comparison of exactly two runs in detail.
    detail: Option<String>,
    /// The comparison as JSON.
    carried: String,
}

pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    Path(project): Path<String>,
    Query(query): Query<CompareRunsQuery>,
) -> ApiResult<Response> {
    let found = told(frame.lang, compare_many::comparison(&web, &project, &query).await?);
    let detail = match found.runs.as_slice() {
        [first, second] => Some(format!("/runs/{}/compare?with={}", second.run.id, first.run.id)),
        _ => None,
    };
    let carried = carried(&found)?;
    html(&RunsComparePage { frame, project, count: found.runs.len(), detail, carried })
}
