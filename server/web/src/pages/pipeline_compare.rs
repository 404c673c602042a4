//! `GET /projects/{project}/pipelines/{pipeline}/compare`: what differs between two versions.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde_json::Value;

use super::{Frame, html};
use crate::api::pipelines::{CompareQuery, ComparisonView, compare_versions};
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::pipelines::HunkKind;
use crate::state::Web;

/// Equal lines that are shown around a change.
const CONTEXT: usize = 4;

#[derive(Template)]
#[template(path = "pipeline-compare.html")]
struct ComparePage {
    frame: Frame,
    project: String,
    name: String,
    found: ComparisonView,
    lines: Vec<Line>,
}

/// A line of the text's difference.
enum Line {
    /// In both, with its numbers.
    Equal(usize, usize, String),
    Removed(usize, String),
    Added(usize, String),
    /// So many equal lines are left out.
    Skipped(usize),
}

impl ComparePage {
    fn value(value: Option<&Value>) -> String {
        value.map_or_else(String::new, |value| match value {
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        })
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
    let lines = lines(&found);
    html(&ComparePage { frame, project, name, found, lines })
}

fn lines(found: &ComparisonView) -> Vec<Line> {
    let hunks = &found.text.hunks;
    let mut lines = Vec::new();
    for (at, hunk) in hunks.iter().enumerate() {
        let texts: Vec<&str> = hunk.text.lines().collect();
        for (n, text) in texts.iter().enumerate() {
            let text = (*text).to_owned();
            match hunk.kind {
                HunkKind::Removed => lines.push(Line::Removed(hunk.old_line + n, text)),
                HunkKind::Added => lines.push(Line::Added(hunk.new_line + n, text)),
                HunkKind::Equal => {
                    let near_before = at > 0 && n < CONTEXT;
                    let near_after = at + 1 < hunks.len() && n + CONTEXT >= texts.len();
                    if near_before || near_after {
                        lines.push(Line::Equal(hunk.old_line + n, hunk.new_line + n, text));
                    } else if let Some(Line::Skipped(count)) = lines.last_mut() {
                        *count += 1;
                    } else {
                        lines.push(Line::Skipped(1));
                    }
                }
            }
        }
    }
    lines
}
