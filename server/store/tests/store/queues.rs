//! The quota tree.

use std::convert::Infallible;

use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::quota::change::QueueChange;
use cubeloom_domain::quota::{Amounts, Pool, Queue, QueueRecord, Quota, Resource};
use cubeloom_store::{Change, PageOf, Store, TreeChange};

use crate::people::audit;
use crate::support::{Fixture, on_both};

on_both!(
    a_tree_has_every_project_and_what_was_said,
    who_saw_an_older_one_changes_nothing,
    what_is_refused_is_not_stored,
    of_several_changes_all_are_made_or_none,
    two_at_once_are_checked_one_after_the_other,
    a_project_goes_with_its_quotas,
    the_history_is_newest_first,
);

fn queue(queue: Queue, parent: Option<&str>, gpus: u64) -> QueueRecord {
    let pool = Pool { cluster: "prod".into(), node_group: Some("a100".into()) };
    let guarantee: Amounts = [(Resource::Gpus, gpus), (Resource::Cpu, 1500)].into_iter().collect();
    let quotas = [(pool, Quota { guarantee, ..Quota::default() })].into();
    QueueRecord { queue, parent: parent.map(Into::into), quotas, revision: 0 }
}

fn group(name: &str) -> Queue {
    Queue::Group(name.into())
}

fn shop() -> Queue {
    Queue::Project("shop".into())
}

fn allowed(_: &[QueueRecord], _: &[QueueRecord]) -> Result<(), Infallible> {
    Ok(())
}

fn about(queue: &Queue) -> AuditEntry {
    AuditEntry { subject: queue.name().into(), ..audit("queue.set") }
}

async fn one(store: &Store, change: QueueChange, audit: &AuditEntry) -> Change {
    let Ok(change) = store.change_queues(&[change], audit, allowed).await.unwrap();
    match change {
        TreeChange::Done(revisions) => Change::Done(revisions[0]),
        TreeChange::Stale { present, .. } => Change::Stale(present),
        TreeChange::Missing(_) => Change::Missing,
    }
}

async fn put(store: &Store, queue: &QueueRecord, expected: Option<u64>) -> Change {
    one(store, QueueChange::put(queue.clone(), expected), &about(&queue.queue)).await
}

async fn delete(store: &Store, queue: &Queue, expected: Option<u64>) -> Change {
    one(store, QueueChange::take_away(queue.clone(), expected), &audit("queue.delete")).await
}

async fn found(store: &Store, queue: &Queue) -> Option<QueueRecord> {
    store.queues().await.unwrap().into_iter().find(|found| found.queue == *queue)
}

async fn a_tree_has_every_project_and_what_was_said(fixture: Fixture) {
    let store = &fixture.store;
    let names = async || {
        let tree = store.queues().await.unwrap();
        tree.iter().map(|one| (one.queue.name().to_owned(), one.revision)).collect::<Vec<_>>()
    };
    assert_eq!(names().await, [("default".into(), 0), ("shop".into(), 0)]);
    assert_eq!(put(store, &queue(group("vision"), None, 8), Some(0)).await, Change::Done(1));
    let said = queue(shop(), Some("vision"), 4);
    assert_eq!(put(store, &said, None).await, Change::Done(1));
    assert_eq!(names().await, [("vision".into(), 1), ("default".into(), 0), ("shop".into(), 1)]);
    assert_eq!(found(store, &shop()).await.unwrap(), QueueRecord { revision: 1, ..said });
    let nobody = queue(Queue::Project("nobody".into()), None, 1);
    assert_eq!(put(store, &nobody, None).await, Change::Missing);
    assert_eq!(delete(store, &group("nobody"), None).await, Change::Missing);
    assert_eq!(delete(store, &Queue::Project("default".into()), None).await, Change::Missing);
}

async fn who_saw_an_older_one_changes_nothing(fixture: Fixture) {
    let store = &fixture.store;
    put(store, &queue(group("vision"), None, 8), None).await;
    assert_eq!(put(store, &queue(group("vision"), None, 9), Some(0)).await, Change::Stale(1));
    assert_eq!(put(store, &queue(group("vision"), None, 9), Some(1)).await, Change::Done(2));
    assert_eq!(delete(store, &group("vision"), Some(1)).await, Change::Stale(2));
    assert_eq!(delete(store, &group("vision"), Some(2)).await, Change::Done(3));
    assert_eq!(put(store, &queue(group("vision"), None, 1), Some(0)).await, Change::Done(1));
    assert_eq!(put(store, &queue(group("vision"), None, 7), Some(2)).await, Change::Stale(1));
    assert_eq!(
        found(store, &group("vision")).await,
        Some(QueueRecord { revision: 1, ..queue(group("vision"), None, 1) })
    );
}

async fn what_is_refused_is_not_stored(fixture: Fixture) {
    let store = &fixture.store;
    put(store, &queue(shop(), None, 4), None).await;
    let change = queue(shop(), None, 5);
    let refused = store
        .change_queues(&[QueueChange::put(change.clone(), None)], &audit("queue.set"), |_, tree| {
            let seen = tree.iter().find(|one| one.queue == shop()).unwrap();
            assert_eq!(seen.quotas, change.quotas);
            Err("no")
        })
        .await;
    assert_eq!(refused.unwrap(), Err("no"));
    let refused = store
        .change_queues(&[QueueChange::take_away(shop(), None)], &audit("queue.delete"), |before, tree| {
            let said = |tree: &[QueueRecord]| tree.iter().find(|one| one.queue == shop()).unwrap().revision;
            assert_eq!((said(before), said(tree)), (1, 0), "the project is there, and nothing is said of it");
            Err("no")
        })
        .await;
    assert_eq!(refused.unwrap(), Err("no"));
    assert_eq!(found(store, &shop()).await.unwrap().quotas, queue(shop(), None, 4).quotas);
    assert_eq!(store.queue_history(None, &PageOf { after: None, limit: 9 }).await.unwrap().len(), 1);
    assert_eq!(put(store, &change, None).await, Change::Done(2));
}

async fn of_several_changes_all_are_made_or_none(fixture: Fixture) {
    let store = &fixture.store;
    put(store, &queue(group("vision"), None, 8), None).await;
    put(store, &queue(shop(), None, 4), None).await;
    let two = |expected| {
        [
            QueueChange::put(queue(group("vision"), None, 6), Some(1)),
            QueueChange::put(queue(shop(), None, 6), Some(expected)),
        ]
    };
    let entry = AuditEntry { subject: "group/vision project/shop".into(), ..audit("queue.change") };
    let stale = store.change_queues(&two(7), &entry, allowed).await.unwrap();
    assert_eq!(stale, Ok(TreeChange::Stale { at: 1, present: 1 }));
    let missing = [two(1)[0].clone(), QueueChange::take_away(group("nobody"), None)];
    let missing = store.change_queues(&missing, &entry, allowed).await.unwrap();
    assert_eq!(missing, Ok(TreeChange::Missing(1)));
    let gpus = async |queue: Queue| {
        let quotas = found(store, &queue).await.unwrap().quotas;
        quotas.into_values().next().unwrap().guarantee.get(&Resource::Gpus)
    };
    assert_eq!((gpus(group("vision")).await, gpus(shop()).await), (Some(8), Some(4)), "neither is changed");
    let made = store.change_queues(&two(1), &entry, allowed).await.unwrap();
    assert_eq!(made, Ok(TreeChange::Done(vec![2, 2])));
    assert_eq!((gpus(group("vision")).await, gpus(shop()).await), (Some(6), Some(6)));
    // It is one change in the history of each of them, and of no other.
    for (subject, count) in [("group/vision", 1), ("project/shop", 1), ("project/sho_", 0), ("project", 0)] {
        let page = PageOf { after: None, limit: 9 };
        let history = store.queue_history(Some(subject), &page).await.unwrap();
        assert_eq!(history.len(), count, "{subject}");
    }
}

/// Gives a group all 8 GPUs, unless another one has some.
async fn takes_all(store: &Store, name: &str) -> bool {
    let wanted = queue(group(name), None, 8);
    let check = |_: &[QueueRecord], tree: &[QueueRecord]| {
        let given = tree.iter().flat_map(|one| one.quotas.values());
        let given: u64 = given.filter_map(|quota| quota.guarantee.get(&Resource::Gpus)).sum();
        if given > 8 { Err(()) } else { Ok(()) }
    };
    let change = [QueueChange::put(wanted, Some(0))];
    store.change_queues(&change, &audit("queue.set"), check).await.unwrap().is_ok()
}

async fn two_at_once_are_checked_one_after_the_other(fixture: Fixture) {
    let (one, other) = (fixture.store.clone(), fixture.second().await);
    let one = tokio::spawn(async move { takes_all(&one, "one").await });
    let other = tokio::spawn(async move { takes_all(&other, "other").await });
    let (one, other) = (one.await.unwrap(), other.await.unwrap());
    assert!(one != other, "{one} {other}");
    let groups = fixture.store.queues().await.unwrap();
    assert_eq!(groups.iter().filter(|one| matches!(one.queue, Queue::Group(_))).count(), 1);
}

async fn a_project_goes_with_its_quotas(fixture: Fixture) {
    let store = &fixture.store;
    store.create_project(&crate::people::project("other"), &audit("p")).await.unwrap();
    let other = Queue::Project("other".into());
    put(store, &queue(other.clone(), None, 4), None).await;
    store.delete_project("other", None, &audit("p")).await.unwrap();
    assert_eq!(found(store, &other).await, None);
    assert_eq!(put(store, &queue(other, None, 4), None).await, Change::Missing);
}

async fn the_history_is_newest_first(fixture: Fixture) {
    let store = &fixture.store;
    store.audit(&audit("queues.are.none.of.it")).await.unwrap();
    put(store, &queue(group("vision"), None, 8), None).await;
    put(store, &queue(shop(), Some("vision"), 4), None).await;
    delete(store, &shop(), None).await;
    let history = async |subject, after: Option<String>| {
        let page = PageOf { after, limit: 2 };
        let found = store.queue_history(subject, &page).await.unwrap();
        found.into_iter().map(|entry| (entry.action.clone(), entry.id)).collect::<Vec<_>>()
    };
    let first = history(None, None).await;
    assert_eq!([first[0].0.as_str(), first[1].0.as_str()], ["queue.delete", "queue.set"]);
    assert_eq!(history(None, Some(first[1].1.clone())).await.len(), 1);
    assert_eq!(history(Some("vision"), None).await.len(), 1);
}
