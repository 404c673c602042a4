//! What the reader of a run is told of its instances that wait.

use cubeloom_domain::RunId;
use cubeloom_domain::record::InstanceRecord;
use cubeloom_domain::state::{InstanceState, WaitReason};

use super::describe;
use crate::api::tasks::view::WaitView;
use crate::api::tasks::why::Reader;
use crate::forecast::{RunLines, RunStarts};

/// What is known of those of a run that wait, and who asks.
#[derive(Clone, Copy)]
pub(crate) struct Waits<'r> {
    /// What the queue says of them.
    pub(super) starts: &'r RunStarts,
    /// Where they stand among others of the run.
    pub(super) lines: &'r RunLines,
    /// The projects that the reader sees; `None` for all.
    pub(super) seen: Option<&'r [String]>,
    /// Run.
    pub(super) run: &'r RunId,
}

impl Waits<'_> {
    /// Why an instance of a task waits, when it does.
    pub(crate) fn of(&self, task: &str, one: &InstanceRecord) -> Option<WaitView> {
        let reader = Reader { seen: self.seen, run: self.run };
        let in_line = self.lines.of(one);
        // Who stands in a line is in no queue: what was said of it when it was in one is over.
        let is_in_line =
            matches!(&one.state, InstanceState::Waiting { reason: Some(WaitReason::Parallelism { .. }), .. });
        let known = if is_in_line { in_line.as_ref() } else { self.starts.of(task, one.instance) };
        describe::wait(&one.state, known, reader)
    }
}
