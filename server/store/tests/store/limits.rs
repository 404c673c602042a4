//! Concurrency limits of tasks.

use cubeloom_domain::Timestamp;
use cubeloom_domain::limit::Limit;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_store::{AuditFilter, Change, Store};

use crate::people::audit;
use crate::records::{attempt, changes, ended, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    a_limit_is_made_changed_and_deleted,
    of_two_who_make_one_the_second_is_told,
    starts_are_found_by_when_they_were
);

fn limit(name: &str, at_once: Option<u32>, a_minute: Option<u32>) -> Limit {
    Limit { name: name.into(), at_once, a_minute, description: Some("what it protects".into()), revision: 0 }
}

async fn put(store: &Store, limit: &Limit, expected: Option<u64>) -> Change {
    store.put_limit(limit, expected, &audit("limit.set")).await.unwrap()
}

async fn told(store: &Store) -> usize {
    let filter = AuditFilter { action: Some("limit.".into()), ..AuditFilter::default() };
    store.audit_log(&filter).await.unwrap().len()
}

async fn a_limit_is_made_changed_and_deleted(fixture: Fixture) {
    let store = &fixture.store;
    let first = limit("hdfs-prod", Some(10), None);
    assert_eq!(put(store, &first, Some(3)).await, Change::Stale(0), "there is none yet");
    assert_eq!(put(store, &first, Some(0)).await, Change::Done(1));
    assert_eq!(put(store, &first, Some(0)).await, Change::Stale(1), "there is one already");
    let second = Limit { a_minute: Some(100), at_once: None, description: None, ..first.clone() };
    assert_eq!(put(store, &second, Some(1)).await, Change::Done(2));
    assert_eq!(store.limit("hdfs-prod").await.unwrap(), Some(Limit { revision: 2, ..second }));
    assert_eq!(put(store, &limit("api", None, Some(4)), None).await, Change::Done(1));
    let names: Vec<String> = store.limits().await.unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["api", "hdfs-prod"]);
    let delete = async |expected| store.delete_limit("hdfs-prod", expected, &audit("limit.delete")).await;
    assert_eq!(delete(Some(1)).await.unwrap(), Change::Stale(2));
    assert_eq!(delete(Some(2)).await.unwrap(), Change::Done(3));
    assert_eq!(delete(None).await.unwrap(), Change::Missing);
    assert_eq!(store.limit("hdfs-prod").await.unwrap(), None);
    assert_eq!(told(store).await, 4, "of what changed nothing, nothing is told");
}

async fn of_two_who_make_one_the_second_is_told(fixture: Fixture) {
    let (one, other) = (fixture.store.clone(), fixture.second().await);
    let make = |store: Store, at_once: u32| {
        tokio::spawn(async move { put(&store, &limit("hdfs-prod", Some(at_once), None), Some(0)).await })
    };
    let (one, other) = (make(one, 1), make(other, 2));
    let (one, other) = (one.await.unwrap(), other.await.unwrap());
    let made = if one == Change::Done(1) { 1 } else { 2 };
    assert_ne!(one, other);
    assert!([one, other].contains(&Change::Stale(1)), "{one:?} {other:?}");
    assert_eq!(fixture.store.limit("hdfs-prod").await.unwrap().unwrap().at_once, Some(made));
}

async fn starts_are_found_by_when_they_were(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 3, "a").await;
    let run = run_id(1);
    let at = |task: u32, seconds: i64, limits: &[&str]| AttemptRecord {
        created_at: Timestamp(seconds * 1_000_000),
        limits: limits.iter().map(|&name| name.into()).collect(),
        ..attempt(&run, task, 0, 1)
    };
    let (early, free, late) = (at(0, 10, &["api"]), at(1, 60, &[]), at(2, 60, &["api", "hdfs-prod"]));
    // Whether it still runs is not decided here.
    let written = changes(vec![early, free.clone(), ended(&late)]);
    store.commit(&lease("a"), &written).await.unwrap();
    let starts = store.limited_starts(Timestamp(10_000_000)).await.unwrap();
    assert_eq!(starts.len(), 1, "{starts:?}");
    assert_eq!((&starts[0].attempt, starts[0].at), (&late.key, late.created_at));
    assert_eq!(starts[0].limits, ["api", "hdfs-prod"]);
    assert_eq!(store.limited_starts(Timestamp(0)).await.unwrap().len(), 2);
    let held: Vec<Vec<String>> =
        store.holding().await.unwrap().into_iter().map(|held| held.attempt.limits).collect();
    assert!(held.contains(&Vec::new()) && held.contains(&vec!["api".to_owned()]), "{held:?}");
}
