//! Validates an edit of the quota tree. Every fault names its field, as a JSON pointer into
//! `{"parent": ..., "quotas": {"prod/a100": {"guarantee": {"gpus": 8}, ...}}}`.

use std::collections::BTreeSet;

use super::held::{self, Job};
use super::room::Rooms;
use super::tree::Tree;
use super::{Pool, Queue, QueueRecord, Quota, Resource};

/// Maximum weight.
const HEAVIEST: u32 = 1000;

/// Maximum absolute priority.
const MOST_URGENT: i32 = 1000;

/// A problem with an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub field: String,
    pub kind: FaultKind,
    /// The problem, and what to do.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Groups that contain each other.
    Cycle,
    /// An unknown group or pool.
    Unknown,
    /// A value outside of the allowed range, or in conflict with other settings.
    Conflict,
    /// The guarantees exceed the capacity.
    Over,
    /// Less than the current usage. It can be confirmed.
    BelowUse,
}

/// An edit of the tree: one queue is added, changed or removed.
#[derive(Debug)]
pub struct Edit<'e> {
    /// The current tree.
    pub before: &'e [QueueRecord],
    /// The edited tree.
    pub after: &'e [QueueRecord],
    pub queue: &'e Queue,
    /// Capacity of the pools.
    pub rooms: &'e Rooms,
    /// Jobs with allocations.
    pub jobs: &'e [Job],
}

/// All problems with an edit.
#[must_use]
pub fn faults(edit: &Edit<'_>) -> Vec<Fault> {
    let (before, after) = (Tree::of(edit.before), Tree::of(edit.after));
    let mut found = Vec::new();
    let Some(now) = after.get(edit.queue) else {
        found.extend(still_used(edit.queue, &after));
        return found;
    };
    found.extend(misplaced(now, &after));
    if found.is_empty() {
        let checked = Checked { edit, before, after, now };
        for (pool, quota) in &now.quotas {
            checked.quota(pool, quota, &mut found);
        }
        checked.promises(&mut found);
        checked.below_use(&mut found);
    }
    found
}

/// A group with children cannot be removed.
fn still_used(queue: &Queue, after: &Tree<'_>) -> Option<Fault> {
    let Queue::Group(name) = queue else { return None };
    let inside = after.inside(Some(name)).next()?;
    let message =
        format!("`{}` is in the group `{name}`: move it to another group first", inside.queue.name());
    Some(fault("", FaultKind::Conflict, message))
}

/// Whether a queue's position is valid.
fn misplaced(now: &QueueRecord, after: &Tree<'_>) -> Option<Fault> {
    let parent = now.parent.as_ref()?;
    let group = Queue::Group(parent.clone());
    if after.get(&group).is_none() {
        let message = format!("there is no group `{parent}`: create it first, or choose another one");
        return Some(fault("/parent", FaultKind::Unknown, message));
    }
    after.is_within(&group, &now.queue).then(|| {
        let name = now.queue.name();
        let message = format!("the group `{parent}` is in `{name}` itself: a group cannot be in itself");
        fault("/parent", FaultKind::Cycle, message)
    })
}

fn fault(field: &str, kind: FaultKind, message: impl Into<String>) -> Fault {
    Fault { field: field.to_owned(), kind, message: message.into() }
}

/// A field of a quota, as a JSON pointer.
fn field(pool: &Pool, part: &str, resource: Option<&Resource>) -> String {
    let escaped = |text: String| text.replace('~', "~0").replace('/', "~1");
    let last = resource.map(|resource| format!("/{}", escaped(resource.to_string())));
    format!("/quotas/{}/{part}{}", escaped(pool.to_string()), last.unwrap_or_default())
}

struct Checked<'c> {
    edit: &'c Edit<'c>,
    before: Tree<'c>,
    after: Tree<'c>,
    now: &'c QueueRecord,
}

impl Checked<'_> {
    /// Checks a quota by itself.
    fn quota(&self, pool: &Pool, quota: &Quota, found: &mut Vec<Fault>) {
        if !self.edit.rooms.contains_key(pool) {
            let message = format!("there is no cluster or node group `{pool}`: remove it");
            found.push(fault(field(pool, "", None).trim_end_matches('/'), FaultKind::Unknown, message));
        }
        if !(1..=HEAVIEST).contains(&quota.weight) {
            let message = format!("a weight is a whole number from 1 to {HEAVIEST}");
            found.push(fault(&field(pool, "weight", None), FaultKind::Conflict, message));
        }
        if quota.max_priority.is_some_and(|most| !(-MOST_URGENT..=MOST_URGENT).contains(&most)) {
            let message = format!("a priority is a whole number from -{MOST_URGENT} to {MOST_URGENT}");
            found.push(fault(&field(pool, "max_priority", None), FaultKind::Conflict, message));
        }
        if matches!(self.now.queue, Queue::Group(_)) && !quota.per_person.is_empty() {
            let message = "a limit per person applies to a project, not to a group";
            found.push(fault(&field(pool, "per_person", None), FaultKind::Conflict, message));
        }
        for (resource, amount) in &quota.guarantee.0 {
            let Some(limit) = quota.limit.get(resource).filter(|limit| limit < amount) else { continue };
            let (amount, limit) = (resource.written(*amount), resource.written(limit));
            let message =
                format!("{amount} {resource} are guaranteed, which is more than its limit of {limit}");
            found.push(fault(&field(pool, "guarantee", Some(resource)), FaultKind::Conflict, message));
        }
    }

    /// Guarantees must fit the capacity, both next to this queue and inside it.
    fn promises(&self, found: &mut Vec<Fault>) {
        let parent = self.now.parent.as_deref();
        for (pool, resource) in self.promised() {
            let own = self.now.quotas.get(&pool).map_or(0, |quota| quota.claimed(&resource));
            let given = promised(&self.after, parent, &pool, &resource);
            let grown = given > promised(&self.before, parent, &pool, &resource);
            let has = match parent.and_then(|name| self.after.get(&Queue::Group(name.to_owned()))) {
                Some(group) => Some(group.quotas.get(&pool).map_or(0, |quota| quota.claimed(&resource))),
                None => self.edit.rooms.get(&pool).and_then(|room| room.get(&resource)),
            };
            if let Some(has) = has.filter(|has| own > 0 && grown && given > *has) {
                let message = self.too_much(&pool, &resource, own, given, has);
                found.push(fault(&field(&pool, "guarantee", Some(&resource)), FaultKind::Over, message));
            }
            self.cluster_promises(&pool, &resource, own, found);
            self.inner_promises(&pool, &resource, own, found);
        }
    }

    /// Pools and resources with a guarantee of the queue or one of its descendants.
    fn promised(&self) -> BTreeSet<(Pool, Resource)> {
        let inside = match &self.now.queue {
            Queue::Group(name) => self.after.inside(Some(name)).collect(),
            Queue::Project(_) => Vec::new(),
        };
        let mut found = BTreeSet::new();
        for (pool, quota) in inside.into_iter().chain([self.now]).flat_map(|one| &one.quotas) {
            for resource in quota.guarantee.0.keys() {
                found.insert((pool.clone(), resource.clone()));
                if matches!(resource, Resource::GpusOf(_)) {
                    found.insert((pool.clone(), Resource::Gpus));
                }
            }
        }
        found
    }

    fn too_much(&self, pool: &Pool, resource: &Resource, own: u64, given: u64, has: u64) -> String {
        let others = resource.written(given - own);
        let (own, has) = (resource.written(own), resource.written(has));
        match &self.now.parent {
            Some(group) => format!(
                "{own} {resource} and the {others} of others in `{group}` exceed the group's guarantee of {has} in `{pool}`"
            ),
            None => {
                format!("{own} {resource} and the {others} guaranteed to others exceed the {has} of `{pool}`")
            }
        }
    }

    /// At the top level, guarantees of a cluster and of its node groups share the same nodes.
    fn cluster_promises(&self, pool: &Pool, resource: &Resource, own: u64, found: &mut Vec<Fault>) {
        let whole = pool.whole();
        let has = self.edit.rooms.get(&whole).and_then(|room| room.get(resource));
        let Some(has) = has.filter(|_| self.now.parent.is_none() && own > 0) else { return };
        let of_cluster = |tree: &Tree<'_>| {
            let pools = self.edit.rooms.keys().filter(|other| whole.has(other));
            pools.map(|other| promised(tree, None, other, resource)).fold(0, u64::saturating_add)
        };
        let given = of_cluster(&self.after);
        let alone = promised(&self.after, None, pool, resource);
        // If the pool alone is over-committed, that is already reported.
        if given > has && given > alone && given > of_cluster(&self.before) {
            let (given, has) = (resource.written(given), resource.written(has));
            let message = format!(
                "with its node groups, {given} {resource} of `{whole}` are guaranteed, but it has only {has}"
            );
            found.push(fault(&field(pool, "guarantee", Some(resource)), FaultKind::Over, message));
        }
    }

    /// A group's guarantee must cover those of its children.
    fn inner_promises(&self, pool: &Pool, resource: &Resource, own: u64, found: &mut Vec<Fault>) {
        let Queue::Group(name) = &self.now.queue else { return };
        let inside = promised(&self.after, Some(name), pool, resource);
        if inside > own {
            let (inside, own) = (resource.written(inside), resource.written(own));
            let message = format!(
                "its queues are guaranteed {inside} {resource} of `{pool}`, but it only {own}: reduce theirs first"
            );
            found.push(fault(&field(pool, "guarantee", Some(resource)), FaultKind::Over, message));
        }
    }

    /// Usage must be within the bounds, unless it exceeded them before.
    fn below_use(&self, found: &mut Vec<Fault>) {
        for queue in std::iter::once(self.now).chain(self.after.above(self.edit.queue)) {
            for (pool, quota) in &queue.quotas {
                for resource in bounded(quota) {
                    let Some(most) = queue.most(pool, resource) else { continue };
                    let holds = |tree: &Tree<'_>| {
                        held::sum(held::of_queue(self.edit.jobs, tree, &queue.queue), pool, resource)
                    };
                    let (held, earlier) = (holds(&self.after), self.before.get(&queue.queue));
                    let was = earlier.and_then(|one| one.most(pool, resource));
                    let same = was.is_some_and(|was| was <= most) && held <= holds(&self.before);
                    if held > most && !same {
                        found.push(self.over_use(queue, (pool, quota), resource, held, most));
                    }
                }
            }
        }
    }

    fn over_use(
        &self,
        queue: &QueueRecord,
        (pool, quota): (&Pool, &Quota),
        resource: &Resource,
        held: u64,
        most: u64,
    ) -> Fault {
        let by_limit = quota.limit.get(resource) == Some(most);
        let field = match (queue.queue == self.now.queue, by_limit) {
            (false, _) => "/parent".to_owned(),
            (true, true) => field(pool, "limit", Some(resource)),
            (true, false) => field(pool, "borrow", None),
        };
        let (held, most, name) = (resource.written(held), resource.written(most), queue.queue.name());
        let message = format!(
            "`{name}` uses {held} {resource} of `{pool}`, more than its new maximum of {most}: no job starts until enough of its jobs have ended"
        );
        fault(&field, FaultKind::BelowUse, message)
    }
}

/// The resources that a quota bounds.
fn bounded(quota: &Quota) -> BTreeSet<&Resource> {
    let own = quota.guarantee.0.keys().filter(|_| !quota.borrow);
    own.chain(quota.limit.0.keys()).collect()
}

/// Sum of the guarantees of a group's children, or of the top-level queues.
fn promised(tree: &Tree<'_>, parent: Option<&str>, pool: &Pool, resource: &Resource) -> u64 {
    let quotas = tree.inside(parent).filter_map(|one| one.quotas.get(pool));
    quotas.map(|quota| quota.claimed(resource)).fold(0, u64::saturating_add)
}
