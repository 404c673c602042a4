//! Open approvals of a run, with the form to decide them.

use cubeloom_domain::record::InstanceRecord;

use crate::auth::Caller;
use crate::error::ApiResult;
use crate::runs::{Reader, wish};
use crate::state::Web;

/// Number of approvals in the head of a run. Others are only indicated.
const SHOWN: usize = 5;

/// An approval to decide.
pub(crate) struct OpenQuestion {
    pub(crate) task: String,
    pub(crate) instance: u32,
    /// Whether the task has several instances.
    pub(crate) several: bool,
    pub(crate) message: String,
    pub(crate) approvers: Vec<String>,
    /// Why the viewer may not decide; `None` if they may.
    pub(crate) barred: Option<String>,
}

/// Open approvals of a run.
#[derive(Default)]
pub(crate) struct Questions {
    /// The oldest first.
    pub(crate) shown: Vec<OpenQuestion>,
    /// Whether there are more.
    pub(crate) more: bool,
}

impl Questions {
    pub(crate) async fn read(web: &Web, caller: &Caller, reader: &Reader<'_>) -> ApiResult<Self> {
        if !reader.waits_anywhere() {
            return Ok(Self::default());
        }
        let mut found = web.store().questions(&reader.record.id, SHOWN + 1).await?;
        let more = found.len() > SHOWN;
        found.truncate(SHOWN);
        let shown = found.iter().filter_map(|one| OpenQuestion::of(caller, reader, one)).collect();
        Ok(Self { shown, more })
    }
}

impl OpenQuestion {
    /// Approval of an instance. `None` if it has none.
    pub(crate) fn of(caller: &Caller, reader: &Reader<'_>, one: &InstanceRecord) -> Option<Self> {
        let question = one.state.question()?;
        let task = reader.plan.task(one.task);
        Some(Self {
            task: task.name.clone(),
            instance: one.instance,
            several: task.for_each.is_some(),
            message: question.message.clone(),
            approvers: question.approvers.clone(),
            barred: wish::may_decide(caller, question).err(),
        })
    }
}
