//! Changes to the quota tree. They are validated against the current tree, and refused ones change nothing.

use cubeloom_domain::quota::change::QueueChange;
use cubeloom_domain::quota::check::{Edit, Fault, FaultKind, faults};
use cubeloom_domain::quota::{Queue, QueueRecord};
use cubeloom_domain::{Code, Problem};
use cubeloom_store::{Change, TreeChange};
use serde_json::Value;

use super::{Present, body, subject};
use crate::api::quotas::view::{EditBody, QueueBody, body_of};
use crate::audit::{self, Entry};
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::etag::changed;
use crate::state::Web;

/// Sets the quotas of a queue. The result has its revision.
///
/// # Errors
/// All problems, with their fields. A conflict if the queue was changed concurrently. Not found if the
/// project does not exist.
pub(crate) async fn put(
    web: &Web,
    caller: &Caller,
    queue: Queue,
    expected: Option<u64>,
    said: QueueBody,
) -> ApiResult<QueueRecord> {
    let mut found = Found::default();
    if let Queue::Group(name) = &queue {
        found.name("/group", name, body::NAME);
    }
    let below_use = said.below_use;
    let record = body::record(queue, said, "", &mut found);
    found.refuse()?;
    let present = Present::of(web).await?;
    let entry = entry(web, caller, "queue.set", &present, &record.queue).after(audited(&record));
    let changes = [QueueChange::put(record.clone(), expected)];
    let refuse = |faults: Faults| refused(faults.into_iter().flatten().collect(), below_use);
    let revision = make(web, &present, &changes, &entry, refuse).await?.first().copied();
    Ok(QueueRecord { revision: revision.unwrap_or_default(), ..record })
}

/// Deletes a group, or the settings of a project.
///
/// # Errors
/// A conflict if the group is not empty or was changed concurrently. Not found if it does not exist.
pub(crate) async fn delete(web: &Web, caller: &Caller, queue: Queue, expected: Option<u64>) -> ApiResult<()> {
    let present = Present::of(web).await?;
    let entry = entry(web, caller, "queue.delete", &present, &queue);
    let refuse = |faults: Faults| match faults.into_iter().flatten().next() {
        Some(fault) => Err(ApiError::conflict(fault.message)),
        None => Ok(()),
    };
    make(web, &present, &[QueueChange::take_away(queue, expected)], &entry, refuse).await?;
    Ok(())
}

/// Makes several edits atomically, as one change in the history. Returns the revision of each queue.
///
/// # Errors
/// All problems, with their fields. A conflict if a queue was changed concurrently. Not found if a project or
/// group does not exist.
pub(crate) async fn change(
    web: &Web,
    caller: &Caller,
    edits: Vec<EditBody>,
    below_use: bool,
) -> ApiResult<Vec<(Queue, u64)>> {
    let mut found = Found::default();
    for (at, edit) in edits.iter().enumerate() {
        if edit.revision.is_none() {
            found.wrong(&format!("/edits/{at}/revision"), "send the revision that you read, or 0 for none");
        }
    }
    let changes = body::changes(edits, &mut found);
    found.refuse()?;
    let present = Present::of(web).await?;
    let names: Vec<String> = changes.iter().map(|change| subject(&change.queue)).collect();
    let was = |change: &QueueChange| said_of(&present, &change.queue).map(audited);
    let of_all = |each: &dyn Fn(&QueueChange) -> Option<Value>| -> Value {
        let said =
            names.iter().zip(&changes).filter_map(|(name, change)| Some((name.clone(), each(change)?)));
        Value::Object(said.collect())
    };
    let entry = audit::entry(web, caller, "queue.change", names.join(" "))
        .before(of_all(&was))
        .after(of_all(&|change| change.to.as_ref().map(audited)));
    let refuse = |faults: Faults| refused(at_edits(faults), below_use);
    let revisions = make(web, &present, &changes, &entry, refuse).await?;
    Ok(changes.into_iter().map(|change| change.queue).zip(revisions).collect())
}

/// Faults of each of several changes.
pub(crate) type Faults = Vec<Vec<Fault>>;

/// Maps fields to those of the request with the edits.
pub(crate) fn at_edits(faults: Faults) -> Vec<Fault> {
    let placed = |(at, faults): (usize, Vec<Fault>)| {
        faults.into_iter().map(move |fault| Fault { field: format!("/edits/{at}{}", fault.field), ..fault })
    };
    faults.into_iter().enumerate().flat_map(placed).collect()
}

/// Faults of the tree after the changes, for each change.
pub(crate) fn faults_of(
    present: &Present,
    changes: &[QueueChange],
    before: &[QueueRecord],
    after: &[QueueRecord],
) -> Faults {
    let of = |change: &QueueChange| {
        let (rooms, jobs) = (&present.rooms, &present.running);
        faults(&Edit { before, after, queue: &change.queue, rooms, jobs })
    };
    changes.iter().map(of).collect()
}

/// Applies changes unless `refuse` rejects their faults. Returns the new revisions.
async fn make(
    web: &Web,
    present: &Present,
    changes: &[QueueChange],
    entry: &Entry,
    refuse: impl FnOnce(Faults) -> ApiResult<()>,
) -> ApiResult<Vec<u64>> {
    let check =
        |before: &[QueueRecord], after: &[QueueRecord]| refuse(faults_of(present, changes, before, after));
    let made = web.store().change_queues(changes, entry, check).await??;
    let (at, change) = match made {
        TreeChange::Done(revisions) => {
            web.wake();
            return Ok(revisions);
        }
        TreeChange::Stale { at, present } => (at, Change::Stale(present)),
        TreeChange::Missing(at) => (at, Change::Missing),
    };
    let queue = changes.get(at).map(|change| &change.queue);
    let (what, name) = match queue {
        Some(Queue::Group(name)) => ("group", name.as_str()),
        Some(Queue::Project(name)) => ("quota", name.as_str()),
        None => ("quota", ""),
    };
    changed(change, what, name).map(|revision| vec![revision])
}

/// Refuses faults. Limits below current usage are accepted with `below_use`.
fn refused(faults: Vec<Fault>, below_use: bool) -> Result<(), ApiError> {
    let counts = |fault: &Fault| !below_use || fault.kind != FaultKind::BelowUse;
    let problems: Vec<Problem> = faults.into_iter().filter(counts).map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(ApiError::invalid(problems)) }
}

/// A fault as an API problem. Only a limit below current usage is a `conflict`: `below_use` allows it.
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

fn entry(web: &Web, caller: &Caller, action: &str, present: &Present, queue: &Queue) -> Entry {
    let mut entry = audit::entry(web, caller, action, subject(queue));
    if let Queue::Project(name) = queue {
        entry = entry.project(name);
    }
    match said_of(present, queue) {
        Some(before) => entry.before(audited(before)),
        None => entry,
    }
}

/// Current settings of a queue.
fn said_of<'p>(present: &'p Present, queue: &Queue) -> Option<&'p QueueRecord> {
    present.queue(queue).filter(|one| one.revision > 0)
}

/// A queue as the history records it: as it is sent.
fn audited(record: &QueueRecord) -> Value {
    serde_json::to_value(body_of(record)).unwrap_or_default()
}
