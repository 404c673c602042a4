//! `GET /projects/{project}/pipelines/{pipeline}/export`

use axum::extract::State;
use cubeloom_compiler::export::argo;
use cubeloom_compiler::{Document, parse_pipeline, yaml};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::said::said;
use crate::state::Web;
use crate::texts::Lang;

/// Format of the export.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportQuery {
    /// Export format: `yaml`, `json` or `argo` (an Argo Workflow, for migration to Argo).
    pub format: Format,
    /// Version to export. Defaults to the newest version.
    #[param(minimum = 1)]
    pub version: Option<u32>,
}

/// Format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    /// The document, YAML.
    Yaml,
    /// The document, JSON.
    Json,
    /// An Argo Workflow, YAML.
    Argo,
}

/// A pipeline exported as a file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExportView {
    /// Format of the file.
    pub format: Format,
    /// Text.
    pub document: String,
    /// What the format cannot express, one sentence per item.
    pub report: Vec<String>,
}

/// Exports a pipeline document in the Cubeloom format or the format of another platform.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/export",
    tag = "pipelines",
    params(("project" = String, Path), ("pipeline" = String, Path), ExportQuery),
    responses(
        (status = 200, body = ExportView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn export(
    State(web): State<Web>,
    lang: Lang,
    Path((project, name)): Path<(String, String)>,
    Query(query): Query<ExportQuery>,
) -> ApiResult<Json<ExportView>> {
    let found = match query.version {
        Some(version) => web.store().pipeline(&project, &name, version).await?,
        None => web.store().newest(&project, &name).await?,
    };
    let text = found.ok_or_else(|| ApiError::not_found("pipeline", &name))?.document;
    let (templates, format) = (web.templates(), query.format);
    let work = move || {
        let document = parse_pipeline(&text)?;
        let (document, report) = match format {
            Format::Yaml if !text.trim_start().starts_with('{') => (text, Vec::new()),
            Format::Yaml => (yaml::write(&value(&document)), Vec::new()),
            Format::Json => (format!("{:#}\n", value(&document)), Vec::new()),
            Format::Argo => {
                let made = argo::workflow(&document, &templates)?;
                let report = made.report.iter().map(|sentence| said(lang, sentence)).collect();
                (made.document, report)
            }
        };
        Ok(ExportView { format, document, report })
    };
    let made = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?;
    Ok(Json(made.map_err(ApiError::invalid)?))
}

fn value(document: &Document) -> serde_json::Value {
    serde_json::to_value(&document.pipeline).unwrap_or_default()
}
