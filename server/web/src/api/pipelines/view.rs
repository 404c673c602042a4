//! Pipelines, as the API shows them.

use std::collections::BTreeMap;

use cubeloom_domain::pipeline::{Parameter, Pipeline};
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::{JsonMap, Problem};
use cubeloom_store::{PipelineSummary, PipelineVersion};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::error::ProblemView;
use crate::texts::Lang;
use crate::time::{Time, seconds};

/// A document that is to be stored.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDocument {
    /// The text, YAML or JSON; it is kept byte for byte.
    pub document: String,
    /// What you say of the change.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub message: String,
    /// The digest of the folder of code that goes with it, uploaded before. When absent, a changed pipeline keeps the
    /// folder that it has; when empty, it has none from now on.
    pub code: Option<String>,
}

/// A pipeline in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PipelineSummaryView {
    /// The project.
    pub project: String,
    /// The name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its labels.
    #[schema(value_type = BTreeMap<String, String>)]
    pub labels: JsonMap,
    /// The newest version, from 1.
    pub version: u32,
    /// What its author said of it.
    pub message: String,
    /// Its author.
    pub user: String,
    /// When it was stored.
    pub updated_at: Time,
    /// The last runs, the newest first, at most ten.
    pub last_runs: Vec<RunMark>,
}

/// A run, as one mark of a line of marks.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunMark {
    /// Its id.
    pub id: String,
    /// `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    pub state: String,
    /// When it was asked for.
    pub created_at: Time,
    /// From its beginning to its end; absent before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<f64>,
}

/// A pipeline with its newest document.
#[derive(Debug, Serialize, ToSchema)]
pub struct PipelineView {
    /// The project.
    pub project: String,
    /// The name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The parameters of its runs: type, default and bounds of each.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// How many tasks it has.
    pub tasks: usize,
    /// The newest version: document, author, time.
    #[serde(flatten)]
    pub newest: VersionView,
    /// What stops it from running here, or is probably not as meant.
    pub problems: Vec<ProblemView>,
}

/// One version of a pipeline.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct VersionView {
    /// The version, from 1.
    pub version: u32,
    /// The document, byte for byte as it was sent; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// SHA-256 of the document, in hexadecimal.
    pub digest: String,
    /// The digest of the folder of code that goes with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What its author said of the change.
    pub message: String,
    /// Its author.
    pub user: String,
    /// When it was stored.
    pub created_at: Time,
}

impl PipelineSummaryView {
    /// With the last runs, the newest first.
    pub fn new(summary: PipelineSummary, runs: Vec<RunRecord>) -> Self {
        Self {
            project: summary.project,
            name: summary.name,
            description: summary.description,
            labels: summary.labels,
            version: summary.version,
            message: summary.message,
            user: summary.user,
            updated_at: Time(summary.created_at),
            last_runs: runs.into_iter().map(RunMark::from).collect(),
        }
    }
}

impl From<RunRecord> for RunMark {
    fn from(run: RunRecord) -> Self {
        Self {
            id: run.id.to_string(),
            state: run.state.as_str().into(),
            created_at: Time(run.created_at),
            duration_seconds: seconds(run.started_at, run.ended_at),
        }
    }
}

impl PipelineView {
    /// A pipeline as its newest version has it.
    pub(crate) fn new(
        project: &str,
        pipeline: &Pipeline,
        newest: VersionView,
        problems: &[Problem],
        lang: Lang,
    ) -> Self {
        Self {
            project: project.into(),
            name: pipeline.name.clone(),
            description: pipeline.description.clone().unwrap_or_default(),
            labels: pipeline.labels.clone(),
            parameters: parameters(&pipeline.parameters),
            tasks: pipeline.tasks.len(),
            newest,
            problems: problems.iter().map(|problem| ProblemView::told(problem, lang)).collect(),
        }
    }
}

fn parameters(declared: &BTreeMap<String, Parameter>) -> Value {
    json!(declared)
}

impl From<PipelineVersion> for VersionView {
    fn from(version: PipelineVersion) -> Self {
        Self {
            version: version.version,
            document: Some(version.document),
            digest: version.digest,
            code: version.code,
            message: version.message,
            user: version.user,
            created_at: Time(version.created_at),
        }
    }
}
