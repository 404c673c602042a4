//! Views of pipelines.

use std::collections::BTreeMap;

use cubeloom_domain::pipeline::Pipeline;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::{JsonMap, Problem};
use cubeloom_store::{PipelineSummary, PipelineVersion};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::error::ProblemView;
use crate::texts::Lang;
use crate::time::{Time, seconds};

/// A document to store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDocument {
    /// Text of the document, in YAML or JSON. It is stored byte for byte.
    pub document: String,
    /// Message that describes the change.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub message: String,
    /// Digest of the uploaded code folder that belongs to the document. If omitted, an existing pipeline keeps its
    /// current folder. If empty, the folder is removed from the pipeline.
    pub code: Option<String>,
}

/// A pipeline in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PipelineSummaryView {
    /// Project.
    pub project: String,
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Labels.
    #[schema(value_type = BTreeMap<String, String>)]
    pub labels: JsonMap,
    /// Newest version, starting at 1.
    pub version: u32,
    /// Message that the author gave for the newest version.
    pub message: String,
    /// Author of the version.
    pub user: String,
    /// Time when the version was stored.
    pub updated_at: Time,
    /// Most recent runs, newest first, at most ten.
    pub last_runs: Vec<RunMark>,
}

/// A run, in the short form used in lists of pipelines.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunMark {
    /// ID.
    pub id: String,
    /// State of the run: `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    pub state: String,
    /// Time at which the run was requested.
    pub created_at: Time,
    /// Time from start to end, in seconds. Omitted until the run has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<f64>,
}

/// A pipeline with its newest document.
#[derive(Debug, Serialize, ToSchema)]
pub struct PipelineView {
    /// Project.
    pub project: String,
    /// Name.
    pub name: String,
    /// Description.
    pub description: String,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Parameters of the pipeline's runs, with type, default and bounds.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// Number of tasks.
    pub tasks: usize,
    /// Newest version, with document, author and time.
    #[serde(flatten)]
    pub newest: VersionView,
    /// Problems that prevent the pipeline from running here, and probable mistakes.
    pub problems: Vec<ProblemView>,
}

/// A version of a pipeline.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct VersionView {
    /// Version number, starting at 1.
    pub version: u32,
    /// Document, byte for byte as it was sent. Omitted in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// SHA-256 digest of the document, in hexadecimal.
    pub digest: String,
    /// Digest of the associated code folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Message that the author gave for the change.
    pub message: String,
    /// Author of the version.
    pub user: String,
    /// Time when the version was stored.
    pub created_at: Time,
}

impl PipelineSummaryView {
    /// View with recent runs, the newest first.
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
    /// View of a pipeline's newest version.
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
            parameters: json!(pipeline.parameters),
            tasks: pipeline.tasks.len(),
            newest,
            problems: problems.iter().map(|problem| ProblemView::told(problem, lang)).collect(),
        }
    }
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
