//! History of a task's sizing: changes of its roles' resources, and reverts by users.

use super::SizedRole;
use crate::clock::Timestamp;
use crate::ids::AttemptKey;

/// A change of a role's resources.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeChange {
    /// First attempt to which the change applied.
    pub attempt: AttemptKey,
    pub at: Timestamp,
    /// The new and previous resources, with reasons.
    pub sized: SizedRole,
}

/// A user has reverted the sizing of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reverted {
    pub project: String,
    pub pipeline: String,
    pub task: String,
    /// The user who reverted it.
    pub by: String,
    pub at: Timestamp,
}
