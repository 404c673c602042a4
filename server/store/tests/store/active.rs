//! The number of active runs of a pipeline, across all servers.

use std::collections::BTreeMap;

use cubeloom_domain::Timestamp;
use cubeloom_domain::record::{Changes, RunRecord};
use cubeloom_domain::state::RunState;
use cubeloom_store::{Store, StoreError};

use crate::records::{attempt, changes, plan, run, run_id};
use crate::support::{Fixture, MINUTE, lease, on_both};

on_both!(
    no_more_begin_than_may_whoever_lets_them,
    what_cannot_begin_leaves_nothing_behind,
    the_runs_of_others_are_known_where_one_is_queued,
    what_comes_before_a_queued_run,
);

/// A queued run, led by `owner`.
async fn queued(store: &Store, n: u64, owner: &str) {
    let record = RunRecord { state: RunState::Queued, ..run(n) };
    store.create_run(&record, &plan(&record, 1), None).await.unwrap();
    assert_eq!(store.acquire(owner, Timestamp(0), MINUTE, 9).await.unwrap(), [run_id(n)]);
}

/// Puts a run into this state; `limit` is the maximum of active runs if it starts.
fn becomes(n: u64, state: RunState, limit: Option<u32>) -> Changes {
    let begun: BTreeMap<_, _> = limit.map(|limit| (run_id(n), limit)).into_iter().collect();
    Changes { runs: vec![RunRecord { state, ..run(n) }], begun, ..Changes::default() }
}

async fn begin(store: &Store, n: u64, owner: &str, limit: u32) -> Result<(), StoreError> {
    store.commit(&lease(owner), &becomes(n, RunState::Running, Some(limit))).await
}

async fn no_more_begin_than_may_whoever_lets_them(fixture: Fixture) {
    let store = &fixture.store;
    let owners = ["a", "b", "c", "d"];
    for (n, owner) in (1..).zip(owners) {
        queued(store, n, owner).await;
    }
    let mut servers = Vec::new();
    for (n, owner) in (1..).zip(owners) {
        let store = fixture.second().await;
        servers.push(tokio::spawn(async move { (n, begin(&store, n, owner, 2).await) }));
    }
    for server in servers {
        match server.await.unwrap() {
            (1 | 2, begun) => begun.unwrap(),
            (n, begun) => {
                assert!(
                    matches!(&begun, Err(StoreError::TooManyActive(run)) if *run == run_id(n)),
                    "{begun:?}"
                );
            }
        }
    }
    store.commit(&lease("a"), &becomes(1, RunState::Succeeded, None)).await.unwrap();
    // The older run goes first, even if another server leads it.
    assert!(begin(store, 4, "d", 2).await.is_err());
    begin(store, 3, "c", 2).await.unwrap();
    begin(store, 4, "d", 3).await.unwrap();
}

async fn what_cannot_begin_leaves_nothing_behind(fixture: Fixture) {
    let store = &fixture.store;
    queued(store, 1, "a").await;
    queued(store, 2, "b").await;
    begin(store, 1, "a", 1).await.unwrap();
    let Changes { runs, begun, .. } = becomes(2, RunState::Running, Some(1));
    let decided = Changes { runs, begun, ..changes(vec![attempt(&run_id(2), 0, 0, 1)]) };
    assert!(store.commit(&lease("b"), &decided).await.is_err());
    assert_eq!(store.run(&run_id(2)).await.unwrap().unwrap().state, RunState::Queued);
    assert!(store.attempts(&run_id(2)).await.unwrap().is_empty());
    store.commit(&lease("a"), &becomes(1, RunState::Failed, None)).await.unwrap();
    store.commit(&lease("b"), &decided).await.unwrap();
}

async fn the_runs_of_others_are_known_where_one_is_queued(fixture: Fixture) {
    let store = &fixture.store;
    queued(store, 1, "a").await;
    assert!(store.runs_elsewhere("b").await.unwrap().is_empty(), "it has none of the pipeline");
    queued(store, 2, "b").await;
    begin(store, 1, "a", 1).await.unwrap();
    let seen = |found: Vec<cubeloom_store::RunElsewhere>| {
        found.into_iter().map(|run| (run.id, run.is_queued)).collect::<Vec<_>>()
    };
    assert_eq!(seen(store.runs_elsewhere("b").await.unwrap()), [(run_id(1), false)]);
    assert!(seen(store.runs_elsewhere("a").await.unwrap()).is_empty(), "none of its own waits");
    store.commit(&lease("a"), &becomes(1, RunState::Succeeded, None)).await.unwrap();
    assert!(seen(store.runs_elsewhere("b").await.unwrap()).is_empty());
}

async fn what_comes_before_a_queued_run(fixture: Fixture) {
    let store = &fixture.store;
    for n in 1..=5 {
        queued(store, n, "a").await;
    }
    let other = RunRecord { pipeline: "rank".into(), ..run(6) };
    store.create_run(&other, &plan(&other, 1), None).await.unwrap();
    store.commit(&lease("a"), &becomes(1, RunState::Succeeded, None)).await.unwrap();
    begin(store, 3, "a", 9).await.unwrap();
    let ahead = async |n: u64, most| {
        let found = store.runs_ahead("shop", &run(n).pipeline, &run_id(n), most).await.unwrap();
        (found.active, found.queued, found.runs.into_iter().map(|run| run.id).collect::<Vec<_>>())
    };
    assert_eq!(ahead(5, 9).await, (1, 2, vec![run_id(3), run_id(2), run_id(4)]), "the active ones first");
    assert_eq!(ahead(5, 2).await, (1, 2, vec![run_id(3), run_id(2)]));
    assert_eq!(ahead(2, 9).await, (1, 0, vec![run_id(3)]), "whoever is active, also a later one");
    assert_eq!(
        store.runs_ahead(&other.project, &other.pipeline, &other.id, 9).await.unwrap(),
        Default::default()
    );
}
