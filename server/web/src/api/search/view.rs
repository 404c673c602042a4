//! Views of what a search has found.

use cubeloom_domain::identity::Project;
use cubeloom_store::{NameMatch, RunMatch};
use serde::Serialize;
use utoipa::ToSchema;

use crate::time::Time;

/// Results of a search, by kind. Each list has at most eight items, the best matches first.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundView {
    /// Projects.
    pub projects: Vec<FoundProjectView>,
    /// Pipelines.
    pub pipelines: Vec<FoundNameView>,
    /// Runs, newest first.
    pub runs: Vec<FoundRunView>,
    /// Models.
    pub models: Vec<FoundNameView>,
}

/// A project in search results.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundProjectView {
    /// Name of the project.
    pub name: String,
    /// Display name.
    pub label: String,
}

/// A pipeline or a model in search results.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundNameView {
    /// Project.
    pub project: String,
    /// Name.
    pub name: String,
}

/// A run in search results.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundRunView {
    /// ID.
    pub id: String,
    /// Project.
    pub project: String,
    /// Pipeline of the run.
    pub pipeline: String,
    /// State of the run: `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    pub state: String,
    /// Time at which the run was requested.
    pub created_at: Time,
}

impl From<&Project> for FoundProjectView {
    fn from(project: &Project) -> Self {
        Self { name: project.name.clone(), label: project.label.clone() }
    }
}

impl From<NameMatch> for FoundNameView {
    fn from(found: NameMatch) -> Self {
        Self { project: found.project, name: found.name }
    }
}

impl From<RunMatch> for FoundRunView {
    fn from(found: RunMatch) -> Self {
        Self {
            id: found.id.to_string(),
            project: found.project,
            pipeline: found.pipeline,
            state: found.state.as_str().into(),
            created_at: Time(found.created_at),
        }
    }
}
