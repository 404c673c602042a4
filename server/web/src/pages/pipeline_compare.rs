//! `GET /projects/{project}/pipelines/{pipeline}/compare`: compares two versions.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde_json::Value;

use super::compared::Compared;
use super::diff::{self, Line};
use super::{Frame, html};
use crate::api::pipelines::{CompareQuery, ComparisonView, compare_versions};
use crate::api::runs::view::RunView;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Path, Query};
use crate::readable;
use crate::runs::{Reader, difference};
use crate::state::Web;
use crate::told::told;

#[derive(Template)]
#[template(path = "pipeline-compare.html")]
struct ComparePage {
    frame: Frame,
    project: String,
    name: String,
    found: ComparisonView,
    lines: Vec<Line>,
    /// Comparison of both versions' newest runs, the new version's first. `None` if one has no ended run.
    compared: Option<Compared>,
}

impl ComparePage {
    fn value(value: Option<&Value>) -> String {
        value.map(readable::value).unwrap_or_default()
    }

    fn differs(&self) -> bool {
        !self.found.text.same || self.found.code_differs
    }

    /// Versions without an ended run.
    fn not_run(&self) -> Vec<u32> {
        let found = &self.found;
        let sides = [(&found.from, &found.from_run), (&found.to, &found.to_run)];
        sides.into_iter().filter(|(_, run)| run.is_none()).map(|(side, _)| side.version).collect()
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
    let compared = newest_runs(&web, &frame, &found).await?;
    html(&ComparePage { frame, project, name, found, lines, compared })
}

/// Compares the newest runs of two versions.
async fn newest_runs(web: &Web, frame: &Frame, found: &ComparisonView) -> ApiResult<Option<Compared>> {
    let (Some(from), Some(to)) = (&found.from_run, &found.to_run) else { return Ok(None) };
    // With the same version twice, both are the same run.
    if from.id == to.id {
        return Ok(None);
    }
    let opened = async |run: &RunView| Reader::open(web, &run.id.parse().map_err(ApiError::internal)?).await;
    let (left, right) = (opened(to).await?, opened(from).await?);
    let view = told(frame.lang, difference::compare(web, &left, &right).await?);
    let names = [found.to.version, found.from.version]
        .map(|version| frame.t_with("pipeline.compare-run-of", [("version", version)]));
    Ok(Some(Compared::new(frame, view, names)))
}
