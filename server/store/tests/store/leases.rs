//! A run is led by one server at a time.

use std::collections::HashSet;
use std::time::Duration;

use cubeloom_domain::record::{Changes, RunRecord, Wish};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, Timestamp};
use cubeloom_store::{Store, StoreError};

use crate::records::{attempt, changes, plan, run, run_id};
use crate::support::{Fixture, MINUTE, lease, leased_run, on_both};

on_both!(
    the_oldest_are_taken_first_and_only_once,
    an_expired_lease_can_be_taken,
    what_is_released_can_be_taken,
    a_run_that_ended_is_taken_only_for_a_wish,
    a_lost_lease_aborts_the_whole_commit,
    racing_owners_never_share_a_run,
    nothing_is_committed_after_a_takeover,
    who_gives_up_midway_leaves_no_lock_behind,
);

/// A moment in these tests.
fn at(seconds: i64) -> Timestamp {
    Timestamp(seconds * 1_000_000)
}

async fn create(store: &Store, n: u64) -> RunId {
    store.create_run(&run(n), &plan(&run(n), 1), None).await.unwrap();
    run_id(n)
}

async fn the_oldest_are_taken_first_and_only_once(fixture: Fixture) {
    let store = &fixture.store;
    for n in [3, 1, 2] {
        create(store, n).await;
    }
    let mut first = store.acquire("a", at(0), MINUTE, 2).await.unwrap();
    first.sort();
    assert_eq!(first, [run_id(1), run_id(2)]);
    assert_eq!(store.acquire("b", at(1), MINUTE, 9).await.unwrap(), [run_id(3)]);
    assert!(store.acquire("a", at(2), MINUTE, 9).await.unwrap().is_empty());
}

async fn an_expired_lease_can_be_taken(fixture: Fixture) {
    let store = &fixture.store;
    let id = create(store, 1).await;
    store.acquire("a", at(0), MINUTE, 9).await.unwrap();
    assert_eq!(store.renew("a", at(50), MINUTE).await.unwrap(), std::slice::from_ref(&id));
    assert!(store.acquire("b", at(100), MINUTE, 9).await.unwrap().is_empty());
    assert_eq!(store.acquire("b", at(111), MINUTE, 9).await.unwrap(), [id]);
    assert!(store.renew("a", at(112), MINUTE).await.unwrap().is_empty());
}

async fn what_is_released_can_be_taken(fixture: Fixture) {
    let store = &fixture.store;
    let (one, two) = (create(store, 1).await, create(store, 2).await);
    store.acquire("a", at(0), MINUTE, 9).await.unwrap();
    store.release("b", std::slice::from_ref(&one)).await.unwrap();
    assert!(store.acquire("b", at(1), MINUTE, 9).await.unwrap().is_empty());
    store.release("a", std::slice::from_ref(&one)).await.unwrap();
    assert_eq!(store.acquire("b", at(1), MINUTE, 9).await.unwrap(), [one]);

    let wakes = store.wakes();
    store.release_all("a").await.unwrap();
    assert!(wakes.has_changed().unwrap());
    assert_eq!(store.acquire("b", at(1), MINUTE, 9).await.unwrap(), [two]);
}

async fn a_run_that_ended_is_taken_only_for_a_wish(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let ended = RunRecord { state: RunState::Failed, ended_at: Some(at(9)), ..run(1) };
    store.commit(&lease("a"), &Changes { runs: vec![ended], ..Changes::default() }).await.unwrap();
    store.release("a", &[run_id(1)]).await.unwrap();
    assert!(store.acquire("a", at(100), MINUTE, 9).await.unwrap().is_empty());

    let wish = store.add_wish(&run_id(1), &Wish::Resume, "ada", at(100), None).await.unwrap();
    assert_eq!(store.acquire("b", at(100), MINUTE, 9).await.unwrap(), [run_id(1)]);
    store.commit(&lease("b"), &Changes { wishes: vec![wish], ..Changes::default() }).await.unwrap();
    store.release_all("b").await.unwrap();
    assert!(store.acquire("a", at(200), MINUTE, 9).await.unwrap().is_empty());
}

async fn a_lost_lease_aborts_the_whole_commit(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    leased_run(store, 2, 1, "a").await;
    store.release("a", &[run_id(2)]).await.unwrap();
    store.acquire("b", at(1), MINUTE, 9).await.unwrap();

    let both = changes(vec![attempt(&run_id(1), 0, 0, 1), attempt(&run_id(2), 0, 0, 1)]);
    let refused = store.commit(&lease("a"), &both).await.unwrap_err();
    assert!(matches!(&refused, StoreError::LeaseLost(run) if *run == run_id(2)), "{refused}");
    assert!(refused.to_string().contains(run_id(2).as_str()));
    for run in [run_id(1), run_id(2)] {
        assert!(store.attempts(&run).await.unwrap().is_empty());
        assert!(store.instances(&run).await.unwrap().is_empty());
    }
    store.commit(&lease("a"), &changes(vec![attempt(&run_id(1), 0, 0, 1)])).await.unwrap();
    assert_eq!(store.attempts(&run_id(1)).await.unwrap().len(), 1);
}

async fn racing_owners_never_share_a_run(fixture: Fixture) {
    const RUNS: u64 = 60;
    for n in 0..RUNS {
        create(&fixture.store, n).await;
    }
    let mut servers = Vec::new();
    for owner in ["a", "b", "c", "d"] {
        let store = fixture.second().await;
        servers.push(tokio::spawn(async move {
            let mut held = Vec::new();
            for _ in 0..40 {
                held.extend(store.acquire(owner, at(0), MINUTE, 3).await.unwrap());
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let renewed: HashSet<RunId> =
                store.renew(owner, at(1), MINUTE).await.unwrap().into_iter().collect();
            assert_eq!(renewed, held.iter().cloned().collect());
            held
        }));
    }
    let mut all = Vec::new();
    for server in servers {
        all.extend(server.await.unwrap());
    }
    assert_eq!(all.len() as u64, RUNS);
    assert_eq!(all.into_iter().collect::<HashSet<_>>().len() as u64, RUNS);
}

async fn nothing_is_committed_after_a_takeover(fixture: Fixture) {
    leased_run(&fixture.store, 1, 1, "a").await;
    let (store, id) = (fixture.store.clone(), run_id(1));
    let committing = tokio::spawn(async move {
        for n in 1.. {
            if let Err(refused) = store.commit(&lease("a"), &changes(vec![attempt(&id, 0, 0, n)])).await {
                return refused;
            }
        }
        unreachable!("there is always another number")
    });
    let other = fixture.second().await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    // A run that is being written is skipped, so it may take a few tries.
    while other.acquire("b", at(1000), MINUTE, 9).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let seen = other.attempts(&run_id(1)).await.unwrap().len();
    assert!(matches!(committing.await.unwrap(), StoreError::LeaseLost(_)));
    assert_eq!(other.attempts(&run_id(1)).await.unwrap().len(), seen);
}

async fn who_gives_up_midway_leaves_no_lock_behind(fixture: Fixture) {
    leased_run(&fixture.store, 1, 1, "a").await;
    for n in 1..=60 {
        let (store, one) = (fixture.store.clone(), changes(vec![attempt(&run_id(1), 0, 0, n)]));
        let committing = tokio::spawn(async move { store.commit(&lease("a"), &one).await });
        tokio::time::sleep(Duration::from_micros(u64::from(n) * 40)).await;
        committing.abort();
        let _ = committing.await;
    }
    let after = attempt(&run_id(1), 0, 1, 1);
    fixture.store.commit(&lease("a"), &changes(vec![after.clone()])).await.unwrap();
    let other = fixture.second().await;
    assert!(other.attempts(&run_id(1)).await.unwrap().contains(&after));
    assert_eq!(other.renew("a", at(1), MINUTE).await.unwrap(), [run_id(1)]);
    // Locks of closed connections are released a moment later.
    let taken = async {
        while other.acquire("b", at(1000), MINUTE, 9).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), taken).await.unwrap();
}
