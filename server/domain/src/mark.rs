//! The outcome of a task set by a user, which replaces its program's result.

use serde::{Deserialize, Serialize};

use crate::JsonMap;
use crate::outcome::{Failure, FailureKind};
use crate::state::{InstanceState, SkipReason};

/// The outcome set for an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkedAs {
    Succeeded,
    Failed,
    /// It is not needed.
    Skipped,
}

/// An outcome set by a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    #[serde(rename = "as")]
    pub marked_as: MarkedAs,
    /// The user who set it.
    pub by: String,
    pub reason: String,
    /// Outputs for downstream tasks, in addition to those that the program reported.
    #[serde(skip_serializing_if = "JsonMap::is_empty", default)]
    pub outputs: JsonMap,
}

impl Mark {
    /// A sentence for users.
    #[must_use]
    pub fn note(&self) -> String {
        let (user, text) = (&self.by, &self.reason);
        match self.marked_as {
            MarkedAs::Succeeded => format!("marked as succeeded by {user}: {text}"),
            MarkedAs::Failed => format!("marked as failed by {user}: {text}"),
            MarkedAs::Skipped => format!("marked as skipped by {user}: {text}"),
        }
    }

    /// The instance's state from now on.
    #[must_use]
    pub fn state(&self) -> InstanceState {
        match self.marked_as {
            MarkedAs::Succeeded => InstanceState::Succeeded { reused: None },
            MarkedAs::Failed => {
                InstanceState::Failed { failure: Failure::new(FailureKind::Rejected, self.note()) }
            }
            MarkedAs::Skipped => InstanceState::Skipped { reason: SkipReason::Marked },
        }
    }
}
