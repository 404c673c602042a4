//! What watchers of runs are told, as it happens. Late watchers miss the past; the store has it.

use crate::executor::Progress;
use crate::ids::AttemptKey;
use crate::record::{AttemptRecord, InstanceRecord, RunRecord};

/// Something that happened to a run.
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// A run changed.
    Run(Box<RunRecord>),
    /// An instance changed.
    Instance(Box<InstanceRecord>),
    /// An attempt changed.
    Attempt(Box<AttemptRecord>),
    /// Something is made before the attempt can start.
    Preparing(AttemptKey, String),
    /// A program said how far it is.
    Progress(AttemptKey, Progress),
}
