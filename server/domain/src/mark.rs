//! The outcome of a task as a person has set it, in place of what its program came to.

use serde::{Deserialize, Serialize};

use crate::JsonMap;
use crate::outcome::{Failure, FailureKind};
use crate::state::{InstanceState, SkipReason};

/// What an instance counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkedAs {
    /// It did what it was for.
    Succeeded,
    /// It did not.
    Failed,
    /// It was not needed.
    Skipped,
}

/// What a person has set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// What it counts as.
    #[serde(rename = "as")]
    pub marked_as: MarkedAs,
    /// Who says so.
    pub by: String,
    /// Why.
    pub reason: String,
    /// Outputs that later tasks read, beside those that its program reported.
    #[serde(skip_serializing_if = "JsonMap::is_empty", default)]
    pub outputs: JsonMap,
}

impl Mark {
    /// A sentence for whoever looks at it.
    #[must_use]
    pub fn note(&self) -> String {
        let (user, text) = (&self.by, &self.reason);
        match self.marked_as {
            MarkedAs::Succeeded => format!("marked as succeeded by {user}: {text}"),
            MarkedAs::Failed => format!("marked as failed by {user}: {text}"),
            MarkedAs::Skipped => format!("marked as skipped by {user}: {text}"),
        }
    }

    /// The state of the instance from now on.
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
