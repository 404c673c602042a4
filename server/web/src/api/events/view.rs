//! Live events in streams. The name of a server-sent event is its `kind` here.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::runs::view::RunView;
use crate::api::tasks::view::TaskView;
use crate::time::Time;

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LiveEvent {
    /// Complete current state. It replaces any earlier state.
    Snapshot(Snapshot),
    /// A run was created or changed.
    Run {
        /// Current state of the run.
        run: Box<RunView>,
    },
    /// A task was changed.
    Task {
        /// Run.
        run_id: String,
        /// Current state of the task.
        task: Box<TaskView>,
    },
    /// A run was deleted.
    Deleted {
        /// Run.
        run_id: String,
    },
    /// The session or token that opened this stream is no longer valid. The stream ends.
    Revoked {},
    /// A pipeline has a new version. Sent on the streams of projects.
    Pipeline(SavedPipeline),
}

/// Pipeline that a user saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SavedPipeline {
    /// Project.
    pub project: String,
    /// Pipeline.
    pub name: String,
    /// Newest version of the pipeline.
    pub version: u32,
    /// Name of the user who saved the version.
    pub user: String,
    /// User's message about the change.
    pub message: String,
    /// Time at which the version was saved.
    pub created_at: Time,
}

/// Complete current state of the subject of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Snapshot {
    /// Server time.
    pub at: Time,
    /// On a run's stream, the run. On other streams, the newest runs, including active runs.
    pub runs: Vec<RunView>,
    /// On a run's stream, the tasks of the run.
    pub tasks: Vec<TaskView>,
    /// Whether more tasks or runs exist than were sent. Use the list operations to get them.
    pub truncated: bool,
}
