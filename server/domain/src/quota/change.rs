//! Changes of the tree: one or several queues at once.

use super::{Queue, QueueRecord};

/// A change of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueChange {
    /// Which.
    pub queue: Queue,
    /// What it becomes, at a revision that is given where it is stored; nothing: a group is taken away, and of a project
    /// nothing is said any more.
    pub to: Option<QueueRecord>,
    /// The revision that is changed; any, where none is said.
    pub expected: Option<u64>,
}

impl QueueChange {
    /// Says where a queue is and what it has.
    #[must_use]
    pub fn put(record: QueueRecord, expected: Option<u64>) -> Self {
        Self { queue: record.queue.clone(), to: Some(record), expected }
    }

    /// Takes it away.
    #[must_use]
    pub fn take_away(queue: Queue, expected: Option<u64>) -> Self {
        Self { queue, to: None, expected }
    }
}

/// The tree after changes, each of another queue. A project of which nothing is said any more is still there.
#[must_use]
pub fn changed(before: &[QueueRecord], changes: &[QueueChange]) -> Vec<QueueRecord> {
    let is_changed = |one: &&QueueRecord| changes.iter().any(|change| change.queue == one.queue);
    let revision =
        |queue: &Queue| before.iter().find(|one| one.queue == *queue).map_or(0, |one| one.revision);
    let after = |change: &QueueChange| match (&change.to, &change.queue) {
        (Some(to), queue) => Some(QueueRecord { revision: revision(queue) + 1, ..to.clone() }),
        (None, Queue::Project(_)) => {
            Some(QueueRecord { queue: change.queue.clone(), parent: None, quotas: [].into(), revision: 0 })
        }
        (None, Queue::Group(_)) => None,
    };
    let kept = before.iter().filter(|one| !is_changed(one)).cloned();
    kept.chain(changes.iter().filter_map(after)).collect()
}
