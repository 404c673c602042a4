//! Live events for watchers of runs. Late subscribers miss earlier ones, which are in the store.

use crate::executor::Progress;
use crate::ids::AttemptKey;
use crate::record::{AttemptRecord, InstanceRecord, RunRecord};

#[derive(Clone, Debug)]
pub enum RunEvent {
    Run(Box<RunRecord>),
    Instance(Box<InstanceRecord>),
    Attempt(Box<AttemptRecord>),
    /// Something must be prepared before the attempt can start.
    Preparing(AttemptKey, String),
    /// A program reported its progress.
    Progress(AttemptKey, Progress),
}
