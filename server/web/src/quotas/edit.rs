//! Changes of the tree: each is checked against what is there at its moment, and changes nothing when it is refused.

use cubeloom_domain::quota::check::{Edit, Fault, FaultKind, faults};
use cubeloom_domain::quota::{Queue, QueueRecord};
use cubeloom_domain::{Code, Problem};
use cubeloom_store::Change;
use serde_json::Value;

use super::{Present, body, subject};
use crate::api::quotas::view::{QueueBody, body_of};
use crate::audit::{self, Entry};
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::etag::changed;
use crate::state::Web;

/// Says what a queue has. The answer is its revision.
///
/// # Errors
/// Every mistake, each with its field; that somebody was faster; that there is no such project.
pub(crate) async fn put(
    web: &Web,
    caller: &Caller,
    queue: Queue,
    expected: Option<u64>,
    said: QueueBody,
) -> ApiResult<QueueRecord> {
    let mut found = Found::default();
    if let Queue::Group(name) = &queue {
        found.name("/group", name, 63);
    }
    let below_use = said.below_use;
    let record = body::record(queue, said, "", &mut found);
    found.refuse()?;
    let present = Present::of(web).await?;
    let before = present.queue(&record.queue).filter(|one| one.revision > 0);
    let entry = entry(web, caller, "queue.set", &record.queue, before).after(audited(&record));
    let check = |before: &[QueueRecord], after: &[QueueRecord]| {
        let edit = edit(&present, before, after, &record.queue);
        refused(faults(&edit), below_use)
    };
    let change = web.store().put_queue(&record, expected, &entry, check).await?;
    let revision = done(change, &record.queue)?;
    web.wake();
    Ok(QueueRecord { revision, ..record })
}

/// Takes a group away, or what was said of a project.
///
/// # Errors
/// That something is in the group; that somebody was faster; that there is no such thing.
pub(crate) async fn delete(web: &Web, caller: &Caller, queue: Queue, expected: Option<u64>) -> ApiResult<()> {
    let present = Present::of(web).await?;
    let entry = entry(web, caller, "queue.delete", &queue, present.queue(&queue));
    let check = |before: &[QueueRecord], after: &[QueueRecord]| {
        let found = faults(&edit(&present, before, after, &queue));
        match found.into_iter().next() {
            Some(fault) => Err(ApiError::conflict(fault.message)),
            None => Ok(()),
        }
    };
    let change = web.store().delete_queue(&queue, expected, &entry, check).await?;
    done(change, &queue)?;
    web.wake();
    Ok(())
}

fn edit<'e>(
    present: &'e Present,
    before: &'e [QueueRecord],
    after: &'e [QueueRecord],
    queue: &'e Queue,
) -> Edit<'e> {
    Edit { before, after, queue, rooms: &present.rooms, jobs: &present.running }
}

fn done(change: Result<Change, ApiError>, queue: &Queue) -> ApiResult<u64> {
    let what = match queue {
        Queue::Group(_) => "group",
        Queue::Project(_) => "quota",
    };
    changed(change?, what, queue.name())
}

/// Refuses what is wrong; what is below what is held, only from those who have not said that they know.
fn refused(faults: Vec<Fault>, below_use: bool) -> Result<(), ApiError> {
    let counts = |fault: &Fault| !below_use || fault.kind != FaultKind::BelowUse;
    let problems: Vec<Problem> = faults.into_iter().filter(counts).map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(ApiError::invalid(problems)) }
}

/// A fault as the API tells it. Only what is below what is held is a `conflict`: `below_use` allows it.
pub(crate) fn problem(fault: Fault) -> Problem {
    let code = match fault.kind {
        FaultKind::Cycle => Code::Cycle,
        FaultKind::Unknown => Code::UnknownPlace,
        FaultKind::Over => Code::NeverFits,
        FaultKind::Conflict => Code::InvalidValue,
        FaultKind::BelowUse => Code::Conflict,
    };
    Problem::error(code, fault.field, fault.message)
}

fn entry(web: &Web, caller: &Caller, action: &str, queue: &Queue, before: Option<&QueueRecord>) -> Entry {
    let mut entry = audit::entry(web, caller, action, subject(queue));
    if let Queue::Project(name) = queue {
        entry = entry.project(name);
    }
    match before {
        Some(before) => entry.before(audited(before)),
        None => entry,
    }
}

/// A queue as the history keeps it: as it is sent.
fn audited(record: &QueueRecord) -> Value {
    serde_json::to_value(body_of(record)).unwrap_or_default()
}
