//! `GET /projects/{project}/pipelines/{pipeline}/compare`: what differs between two versions.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde_json::Value;

use super::diff::{self, Line};
use super::{Frame, html};
use crate::api::pipelines::{CompareQuery, ComparisonView, compare_versions};
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::readable;
use crate::state::Web;

#[derive(Template)]
#[template(path = "pipeline-compare.html")]
struct ComparePage {
    frame: Frame,
    project: String,
    name: String,
    found: ComparisonView,
    lines: Vec<Line>,
}

impl ComparePage {
    fn value(value: Option<&Value>) -> String {
        value.map(readable::value).unwrap_or_default()
    }

    fn differs(&self) -> bool {
        !self.found.text.same || self.found.code_differs
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<CompareQuery>,
) -> ApiResult<Response> {
    let found = compare_versions(&web, &project, &name, (query.from, query.to)).await?;
    let lines = diff::lines(&found.text.hunks);
    html(&ComparePage { frame, project, name, found, lines })
}
