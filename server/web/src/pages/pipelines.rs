//! `GET /projects/{project}/pipelines`: pipelines of a project.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};

use super::{Frame, html, with_query};
use crate::api::pipelines::{ListQuery, PipelineSummaryView, summaries};
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::sort::Heading;
use crate::state::Web;

#[derive(Template)]
#[template(path = "pipelines.html")]
struct PipelinesPage {
    frame: Frame,
    project: String,
    q: String,
    label: String,
    sort: String,
    rows: Vec<Row>,
    /// The URL of the next page.
    next: Option<String>,
}

struct Row {
    pipeline: PipelineSummaryView,
    labels: Vec<Label>,
    /// Recent runs for the sparkline, as JSON, the oldest first.
    spark: String,
}

struct Label {
    text: String,
    /// URL of the list filtered by this label.
    href: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Path(project): Path<String>,
    Query(query): Query<ListQuery>,
) -> ApiResult<Response> {
    let q = query.q.clone().unwrap_or_default();
    let label = query.label.clone().unwrap_or_default();
    let sort = query.sort.clone().filter(|sort| !sort.is_empty()).unwrap_or_else(|| "name".into());
    let page = summaries(&web, project.clone(), query).await?;
    let address = |cursor: String| {
        with_query("", &[("q", &q), ("label", &label), ("sort", &sort), ("cursor", &cursor)])
    };
    let next = page.next_cursor.map(address);
    let rows = page.items.into_iter().map(row).collect();
    html(&PipelinesPage { frame, project, q, label, sort, rows, next })
}

impl PipelinesPage {
    /// Sortable heading of the pipelines.
    fn sorted(&self, first: &str) -> Heading {
        let path = format!("/projects/{}/pipelines", self.project);
        Heading::new(first, &self.sort, |sort| {
            with_query(&path, &[("q", &self.q), ("label", &self.label), ("sort", sort)])
        })
    }
}

fn row(pipeline: PipelineSummaryView) -> Row {
    let labels = pipeline.labels.iter().map(|(name, value)| label(name, value)).collect();
    Row { labels, spark: spark(&pipeline).to_string(), pipeline }
}

fn label(name: &str, value: &Value) -> Label {
    let value = value.as_str().unwrap_or_default();
    let mut query = url::form_urlencoded::Serializer::new(String::from("?"));
    query.append_pair("label", &format!("{name}={value}"));
    let text = if value.is_empty() || value == "true" { name.to_owned() } else { format!("{name}: {value}") };
    Label { text, href: query.finish() }
}

fn spark(pipeline: &PipelineSummaryView) -> Value {
    let run = |run: &crate::api::pipelines::RunMark| json!({"id": run.id, "state": run.state, "seconds": run.duration_seconds});
    pipeline.last_runs.iter().rev().map(run).collect()
}
