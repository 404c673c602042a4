//! Changes of the tree: they are checked against what is there at their moment, and change nothing when they are refused.

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

/// Says what a queue has. The answer has its revision.
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

/// Takes a group away, or what was said of a project.
///
/// # Errors
/// That something is in the group; that somebody was faster; that there is no such thing.
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

/// Makes several edits at once: all of them, as one change of the history, or none. The answer has each queue's revision.
///
/// # Errors
/// Every mistake, each with its field; that somebody was faster with one of them; that there is no such project or group.
pub(crate) async fn change(
    web: &Web,
    caller: &Caller,
    edits: Vec<EditBody>,
    below_use: bool,
) -> ApiResult<Vec<(Queue, u64)>> {
    let mut found = Found::default();
    for (at, edit) in edits.iter().enumerate() {
        if edit.revision.is_none() {
            found.wrong(&format!("/edits/{at}/revision"), "send the revision that you have seen, 0 for none");
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

/// What is wrong with each of several changes.
pub(crate) type Faults = Vec<Vec<Fault>>;

/// The same with fields of the request that has the edits.
pub(crate) fn at_edits(faults: Faults) -> Vec<Fault> {
    let placed = |(at, faults): (usize, Vec<Fault>)| {
        faults.into_iter().map(move |fault| Fault { field: format!("/edits/{at}{}", fault.field), ..fault })
    };
    faults.into_iter().enumerate().flat_map(placed).collect()
}

/// What is wrong with a tree after changes, at each of them.
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

/// Makes changes, unless `refuse` has something against what is wrong with each of them. The revisions after them.
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

/// What is said of a queue already.
fn said_of<'p>(present: &'p Present, queue: &Queue) -> Option<&'p QueueRecord> {
    present.queue(queue).filter(|one| one.revision > 0)
}

/// A queue as the history keeps it: as it is sent.
fn audited(record: &QueueRecord) -> Value {
    serde_json::to_value(body_of(record)).unwrap_or_default()
}
