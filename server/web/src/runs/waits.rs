//! Why instances of a run are pending, as its reader may see it.

use cubeloom_domain::RunId;
use cubeloom_domain::record::InstanceRecord;
use cubeloom_domain::state::{InstanceState, WaitReason};

use super::describe;
use crate::api::tasks::view::WaitView;
use crate::api::tasks::why::Reader;
use crate::forecast::{RunLines, RunStarts};

/// Wait reasons of a run's instances, and the reader.
#[derive(Clone, Copy)]
pub(crate) struct Waits<'r> {
    /// Reasons and estimates from the queue.
    pub(super) starts: &'r RunStarts,
    /// Positions among the other instances of the run.
    pub(super) lines: &'r RunLines,
    /// Projects that the reader can see. `None` means all.
    pub(super) seen: Option<&'r [String]>,
    pub(super) run: &'r RunId,
}

impl Waits<'_> {
    /// Why an instance of a task is pending, if it is.
    pub(crate) fn of(&self, task: &str, one: &InstanceRecord) -> Option<WaitView> {
        let reader = Reader { seen: self.seen, run: self.run };
        let in_line = self.lines.of(one);
        // An instance that waits for parallelism is in no queue: an earlier reason from the queue is
        // obsolete.
        let is_in_line =
            matches!(&one.state, InstanceState::Waiting { reason: Some(WaitReason::Parallelism { .. }), .. });
        let known = if is_in_line { in_line.as_ref() } else { self.starts.of(task, one.instance) };
        describe::wait(&one.state, known, reader)
    }
}
