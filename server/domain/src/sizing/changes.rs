//! What became of a task's size: what its roles got from when on, and that a person took it back.

use super::SizedRole;
use crate::clock::Timestamp;
use crate::ids::AttemptKey;

/// A change of what a role of a task gets.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeChange {
    /// The attempt that got it first.
    pub attempt: AttemptKey,
    /// When.
    pub at: Timestamp,
    /// What it gets, what the one before got, and why.
    pub sized: SizedRole,
}

/// That a person has taken sizing of a task back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reverted {
    /// The project.
    pub project: String,
    /// The pipeline.
    pub pipeline: String,
    /// The task.
    pub task: String,
    /// By whom.
    pub by: String,
    /// When.
    pub at: Timestamp,
}
