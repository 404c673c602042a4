//! `GET /projects/{project}/models`: the model registry, a model with its versions, and one version.

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::RunId;
use cubeloom_domain::model::{Model, ModelVersion};
use cubeloom_store::PageOf;
use serde_json::Value;

use super::{Frame, html, with_query};
use crate::api::models::{ListQuery, ModelVersionView, ModelView, find, find_version, models, version_page};
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::page::PageQuery;
use crate::show;
use crate::state::Web;

/// Number of metrics with a column.
const COLUMNS: usize = 4;

/// How to register a model, as code.
const PROGRAM: &str = include_str!("../../../../templates/models/register.py");

#[derive(Template)]
#[template(path = "models/list.html")]
struct ListPage {
    frame: Frame,
    project: String,
    q: String,
    models: Vec<ModelView>,
    program: &'static str,
    /// The URL of the next page.
    next: Option<String>,
}

/// Models of a project.
pub(crate) async fn list(
    State(web): State<Web>,
    frame: Frame,
    Path(project): Path<String>,
    Query(query): Query<ListQuery>,
) -> ApiResult<Response> {
    let q = query.q.clone().unwrap_or_default();
    let page = models(&web, &project, query).await?;
    let next = page.next_cursor.map(|cursor| with_query("", &[("q", &q), ("cursor", &cursor)]));
    html(&ListPage { frame, project, q, models: page.items, program: PROGRAM, next })
}

#[derive(Template)]
#[template(path = "models/model.html")]
struct ModelPage {
    frame: Frame,
    project: String,
    model: Model,
    versions: Vec<ModelVersionView>,
    /// Metrics with a column.
    metrics: Vec<String>,
    use_it: String,
    /// The URL of the next page.
    next: Option<String>,
}

impl ModelPage {
    /// Value of a metric, if the version has it.
    fn metric(&self, version: &ModelVersionView, name: &str) -> Option<String> {
        version.metrics.get(name).map(|value| show::number(*value))
    }
}

/// A model with its versions.
pub(crate) async fn model(
    State(web): State<Web>,
    frame: Frame,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Response> {
    let model = find(&web, &project, &name).await?;
    let page = version_page(&web, &model, &query).await?;
    let named: BTreeSet<&String> = page.items.iter().flat_map(|version| version.metrics.keys()).collect();
    let metrics = named.into_iter().take(COLUMNS).cloned().collect();
    let next = page.next_cursor.map(|cursor| with_query("", &[("cursor", &cursor)]));
    let alias = model.aliases.keys().next().cloned();
    let use_it = argument(&alias.map_or_else(|| name.clone(), |alias| format!("{name}@{alias}")));
    html(&ModelPage { frame, project, model, versions: page.items, metrics, use_it, next })
}

#[derive(Template)]
#[template(path = "models/version.html")]
struct VersionPage {
    frame: Frame,
    project: String,
    version: ModelVersionView,
    metrics: Vec<Metric>,
    parameters: Vec<(String, String)>,
    /// The previous version, to compare with.
    before: Option<u32>,
    /// Whether its run still exists.
    has_run: bool,
    use_it: String,
}

/// A metric next to the previous version's.
struct Metric {
    name: String,
    value: String,
    before: String,
    difference: String,
}

/// A version of a model.
pub(crate) async fn version(
    State(web): State<Web>,
    frame: Frame,
    Path((project, name, number)): Path<(String, String, u32)>,
) -> ApiResult<Response> {
    let model = find(&web, &project, &name).await?;
    let found = find_version(&web, &model, number).await?;
    let before =
        web.store().model_versions(&project, &name, &PageOf { after: Some(number), limit: 1 }).await?;
    let before = before.into_iter().next();
    let version = ModelVersionView::new(found, &model);
    let run: Option<RunId> = version.run.parse().ok();
    let has_run = match run {
        Some(run) => web.store().run(&run).await?.is_some(),
        None => false,
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    html(&VersionPage {
        frame,
        project,
        parameters: version.parameters.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
        metrics: version.metrics.iter().map(|(name, value)| metric(name, *value, before.as_ref())).collect(),
        before: before.map(|before| before.version),
        has_run,
        use_it: argument(&format!("{name}/{number}")),
        version,
    })
}

impl VersionPage {
    /// The pipeline and its version.
    fn pipeline(&self, version: &u32) -> String {
        let version = version.to_string();
        self.frame.t_with("run.model-version", [("name", self.version.pipeline.as_str()), ("n", &version)])
    }
}

fn metric(name: &str, value: f64, before: Option<&ModelVersion>) -> Metric {
    let before = before.and_then(|before| before.made.reported.metrics.get(name).copied());
    let shown = |value: f64| show::number(value);
    Metric {
        name: name.into(),
        value: shown(value),
        before: before.map_or_else(|| "–".into(), shown),
        difference: before.map_or_else(String::new, |before| difference(value - before)),
    }
}

/// A number with its sign.
fn difference(value: f64) -> String {
    let size = show::number(value.abs());
    match value {
        value if value > 0.0 => format!("+{size}"),
        value if value < 0.0 => format!("−{size}"),
        _ => size,
    }
}

/// An argument that names a model, as document text.
fn argument(model: &str) -> String {
    format!("arguments:\n  model: {model}")
}
