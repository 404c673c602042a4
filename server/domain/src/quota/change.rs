//! Changes to the quota tree: of one or several queues at once.

use super::{Queue, QueueRecord};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueChange {
    pub queue: Queue,
    /// Its new state, with a revision assigned by the store. `None` removes a group, or resets a project to
    /// defaults.
    pub to: Option<QueueRecord>,
    /// The revision that is changed. `None` means any.
    pub expected: Option<u64>,
}

impl QueueChange {
    /// Sets a queue's position and quotas.
    #[must_use]
    pub fn put(record: QueueRecord, expected: Option<u64>) -> Self {
        Self { queue: record.queue.clone(), to: Some(record), expected }
    }

    /// Removes a queue.
    #[must_use]
    pub fn take_away(queue: Queue, expected: Option<u64>) -> Self {
        Self { queue, to: None, expected }
    }
}

/// The tree after changes, each of a different queue. A project that was reset to defaults stays in it.
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
