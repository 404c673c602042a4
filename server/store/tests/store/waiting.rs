//! Pending instances on other servers.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::approval::{OnRejection, Question};
use cubeloom_domain::record::{Changes, InstanceRecord, RunRecord};
use cubeloom_domain::state::{InstanceState, RunState, WaitReason};
use cubeloom_store::{Store, WaitingElsewhere};

use crate::records::{changes, instance, plan, run, run_id};
use crate::support::{Fixture, MINUTE, lease, on_both};

on_both!(
    what_waits_on_other_servers_is_known_while_they_lead_it,
    what_waits_for_no_place_is_not_among_it,
    it_is_found_by_its_runs_and_never_by_going_through_what_waits,
);

/// A started run, led by `owner` until a minute after the beginning.
async fn running(store: &Store, n: u64, owner: &str) {
    let record = RunRecord { state: RunState::Running, ..run(n) };
    store.create_run(&record, &plan(&record, 2), None).await.unwrap();
    assert_eq!(store.acquire(owner, Timestamp(0), MINUTE, 9).await.unwrap(), [run_id(n)]);
}

async fn wait(store: &Store, owner: &str, instances: Vec<InstanceRecord>) {
    store.commit(&lease(owner), &Changes { instances, ..changes(Vec::new()) }).await.unwrap();
}

async fn elsewhere(store: &Store, owner: &str) -> Vec<(u64, u32)> {
    let found = store.waiting_elsewhere(owner, Timestamp(9), 10).await.unwrap();
    let number = |one: &WaitingElsewhere| (1..9).find(|n| run_id(*n) == one.run).unwrap();
    found.iter().map(|one| (number(one), one.instance)).collect()
}

async fn what_waits_on_other_servers_is_known_while_they_lead_it(fixture: Fixture) {
    let store = &fixture.store;
    running(store, 1, "a").await;
    running(store, 2, "b").await;
    let later = InstanceRecord {
        attempt: 2,
        ready_at: Timestamp(8),
        cool_until: Some(Timestamp(90)),
        ..instance(&run_id(1), 1, 3)
    };
    wait(store, "a", vec![later, instance(&run_id(1), 0, 0)]).await;
    wait(store, "b", vec![instance(&run_id(2), 0, 0)]).await;
    assert_eq!(elsewhere(store, "b").await, [(1, 0), (1, 3)], "the oldest first");
    assert_eq!(elsewhere(store, "a").await, [(2, 0)]);
    assert_eq!(elsewhere(store, "c").await, [(1, 0), (2, 0), (1, 3)]);
    let found = store.waiting_elsewhere("b", Timestamp(9), 10).await.unwrap().remove(1);
    assert_eq!(
        (found.server.as_str(), found.project.as_str(), found.pipeline.as_str()),
        ("a", "shop", "ctr")
    );
    assert_eq!((found.user.as_str(), found.n, found.task.0), ("ada", 3, 1));
    assert_eq!((found.since, found.cool_until), (Timestamp(8), Some(Timestamp(90))));
    let first = store.waiting_elsewhere("b", Timestamp(9), 1).await.unwrap();
    assert_eq!(first.len(), 1, "no more than are asked for");

    // It has started.
    let active = InstanceRecord { state: InstanceState::ACTIVE, ..instance(&run_id(1), 0, 0) };
    wait(store, "a", vec![active]).await;
    assert_eq!(elsewhere(store, "b").await, [(1, 3)]);
    // A server that does not renew its leases starts nothing.
    let after = Timestamp(0).plus(MINUTE + Duration::from_secs(1));
    assert!(store.waiting_elsewhere("b", after, 10).await.unwrap().is_empty());
    store.release_all("a").await.unwrap();
    assert!(elsewhere(store, "b").await.is_empty(), "nobody leads it");
}

async fn what_waits_for_no_place_is_not_among_it(fixture: Fixture) {
    let store = &fixture.store;
    running(store, 1, "a").await;
    let waits = |n: u32, reason: Option<WaitReason>| InstanceRecord {
        state: InstanceState::Waiting { since: Timestamp(5), reason },
        ..instance(&run_id(1), 1, n)
    };
    let question = Question {
        message: "well?".into(),
        approvers: Vec::new(),
        barred: None,
        on_rejection: OnRejection::GoOn,
    };
    let instances = vec![
        waits(0, Some(WaitReason::Parallelism { message: "the task's parallelism is 1".into(), why: None })),
        waits(1, Some(WaitReason::Decision(question))),
        waits(2, Some(WaitReason::Capacity { message: "too little".into(), why: None })),
        InstanceRecord {
            state: InstanceState::Backoff { until: Timestamp(99) },
            ..instance(&run_id(1), 1, 3)
        },
        InstanceRecord { state: InstanceState::Pending, ..instance(&run_id(1), 1, 4) },
    ];
    wait(store, "a", instances).await;
    assert_eq!(elsewhere(store, "b").await, [(1, 2)]);
    // The run's list has it, as well as instances that wait for an approval; retries and preparation are not
    // pending.
    let of_run = async |most: usize| -> Vec<u32> {
        let found = store.waiting_of(&run_id(1), most).await.unwrap();
        found.into_iter().map(|one| one.instance).collect()
    };
    assert_eq!((of_run(9).await, of_run(2).await), (vec![0, 1, 2], vec![0, 1]));
    // A run being cancelled starts nothing either.
    let stopping = RunRecord { state: RunState::Cancelling, ..run(1) };
    store.commit(&lease("a"), &Changes { runs: vec![stopping], ..changes(Vec::new()) }).await.unwrap();
    assert!(elsewhere(store, "b").await.is_empty());
}

/// With twenty thousand pending instances on this server, and one on another: the query takes less time than
/// a scan of all of them.
async fn it_is_found_by_its_runs_and_never_by_going_through_what_waits(fixture: Fixture) {
    let store = &fixture.store;
    running(store, 1, "a").await;
    for part in 0..10 {
        let many = (0..2000).map(|n| instance(&run_id(1), 0, part * 2000 + n)).collect();
        wait(store, "a", many).await;
    }
    running(store, 2, "b").await;
    wait(store, "b", vec![instance(&run_id(2), 0, 0)]).await;
    let best = |owner: &'static str, tries: u32| async move {
        let mut best = Duration::MAX;
        for _ in 0..tries {
            let began = std::time::Instant::now();
            store.waiting_elsewhere(owner, Timestamp(9), 100_000).await.unwrap();
            best = best.min(began.elapsed());
        }
        best
    };
    // One short query in thirty is not delayed, however busy the machine is.
    let (few, all) = (best("a", 30).await, best("b", 3).await);
    assert!(few * 10 < all, "one is found in {few:?}, all are read in {all:?}");
}
