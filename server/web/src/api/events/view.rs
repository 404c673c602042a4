//! Live events as streams carry them: the name of a server-sent event is its `kind` here.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::runs::view::RunView;
use crate::api::tasks::view::TaskView;
use crate::time::Time;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LiveEvent {
    /// The whole present state: what was known before is to be replaced by it.
    Snapshot(Snapshot),
    /// A run is new or has changed.
    Run {
        /// The run as it is now.
        run: Box<RunView>,
    },
    /// A task has changed.
    Task {
        /// The run.
        run_id: String,
        /// The task as it is now.
        task: Box<TaskView>,
    },
    /// A run was deleted.
    Deleted {
        /// The run.
        run_id: String,
    },
    /// The session or the token that opened this stream does not hold any more; the stream ends.
    Revoked {},
    /// A pipeline has a new version; told on the streams of projects.
    Pipeline(SavedPipeline),
}

/// A pipeline that somebody has saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SavedPipeline {
    /// The project.
    pub project: String,
    /// The pipeline.
    pub name: String,
    /// The version that is the newest now.
    pub version: u32,
    /// The name of who saved it.
    pub user: String,
    /// What they said of the change.
    pub message: String,
    /// When.
    pub created_at: Time,
}

/// The whole present state of what a stream is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Snapshot {
    /// The server's time.
    pub at: Time,
    /// Of a run's stream, the run; otherwise the newest runs, those that go on among them.
    pub runs: Vec<RunView>,
    /// Of a run's stream, its tasks.
    pub tasks: Vec<TaskView>,
    /// Whether there are more tasks or runs than are sent: ask the lists.
    pub truncated: bool,
}
