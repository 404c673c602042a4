//! What became of a task's size: what its roles got from when on, and that a person took it back.

use super::SizedRole;
use crate::clock::Timestamp;
use crate::ids::AttemptKey;

/// A change of what a role of a task gets.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeChange {
    /// First attempt to which the change applied.
    pub attempt: AttemptKey,
    /// Time.
    pub at: Timestamp,
    /// What it gets, what the one before got, and why.
    pub sized: SizedRole,
}

/// That a person has taken sizing of a task back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reverted {
    /// Project.
    pub project: String,
    /// Pipeline.
    pub pipeline: String,
    /// Task.
    pub task: String,
    /// Author of the change.
    pub by: String,
    /// Time.
    pub at: Timestamp,
}
