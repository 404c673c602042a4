//! Durations of attempts: which are stored, and which are not.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::history::{KEPT, RunTime};
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{AttemptRecord, Changes, RunRecord};
use cubeloom_domain::state::{AttemptState, RunState};
use cubeloom_store::Store;

use crate::people::audit;
use crate::records::{attempt, run, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    the_last_successful_attempts_say_how_long_a_task_takes,
    an_end_that_is_written_again_counts_once,
    many_tasks_of_one_commit_are_each_known,
    a_template_says_it_of_a_task_that_never_ran,
    a_deleted_project_leaves_none,
);

const MINUTE: i64 = 60_000_000;

/// An attempt at an instance of the first task of run 1 that took so many minutes.
fn took(instance: u32, minutes: i64, outcome: Outcome) -> AttemptRecord {
    let state = AttemptState::Ended {
        started_at: Some(Timestamp(MINUTE)),
        ended_at: Timestamp(MINUTE + minutes * MINUTE),
        outcome,
    };
    AttemptRecord { state, ..attempt(&run_id(1), 0, instance, 1) }
}

async fn commit(store: &Store, attempts: Vec<AttemptRecord>) {
    store.commit(&lease("a"), &Changes { attempts, ..Changes::default() }).await.unwrap();
}

async fn of(store: &Store, task: &str) -> Option<RunTime> {
    let history = store.run_times("shop", "ctr").await.unwrap();
    history.of(task, "command", &Pool::of("local"))
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

async fn the_last_successful_attempts_say_how_long_a_task_takes(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let failed = Outcome::Failed(Failure::new(FailureKind::Exit, "no"));
    commit(
        store,
        vec![took(0, 10, Outcome::Succeeded), took(1, 500, failed), took(2, 500, Outcome::Cancelled)],
    )
    .await;
    commit(store, vec![took(3, 12, Outcome::Succeeded)]).await;
    assert_eq!(of(store, "task-0").await, None);
    commit(store, vec![took(4, 14, Outcome::Succeeded)]).await;
    let found = of(store, "task-0").await.unwrap();
    assert_eq!((found.median, found.attempts), (minutes(12), 3));
    // The next loaded run has it.
    let loaded = store.load(&run_id(1)).await.unwrap().unwrap();
    assert_eq!(loaded.history.of("task-0", "command", &Pool::of("local")), Some(found));

    for instance in 0..KEPT as u32 {
        commit(store, vec![took(10 + instance, 60, Outcome::Succeeded)]).await;
    }
    let found = of(store, "task-0").await.unwrap();
    assert_eq!((found.median, found.attempts), (minutes(60), KEPT));
    assert!(found.spread < 1e-9, "{}", found.spread);
    // More in one commit than are kept.
    commit(store, (0..50).map(|instance| took(100 + instance, 5, Outcome::Succeeded)).collect()).await;
    let found = of(store, "task-0").await.unwrap();
    assert_eq!((found.median, found.attempts), (minutes(5), KEPT));
}

async fn many_tasks_of_one_commit_are_each_known(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    // More than one statement can read, in an order other than that of their names.
    let tasks = 600;
    let ended = |n: u32, task: u32| AttemptRecord {
        state: took(0, i64::from(task + n), Outcome::Succeeded).state,
        ..attempt(&run_id(1), task, 0, n)
    };
    for n in 1..4 {
        commit(store, (0..tasks).rev().map(|task| ended(n, task)).collect()).await;
    }
    let history = store.run_times("shop", "ctr").await.unwrap();
    for task in 0..tasks {
        let found = history.of(&format!("task-{task}"), "command", &Pool::of("local")).unwrap();
        assert_eq!((found.median, found.attempts), (minutes(u64::from(task + 2)), 3), "task-{task}");
    }
}

async fn an_end_that_is_written_again_counts_once(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    for _ in 0..5 {
        commit(store, vec![took(0, 10, Outcome::Succeeded)]).await;
    }
    assert_eq!(of(store, "task-0").await, None);
}

async fn a_template_says_it_of_a_task_that_never_ran(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    commit(store, (0..4).map(|instance| took(instance, 7, Outcome::Succeeded)).collect()).await;
    assert_eq!(of(store, "task-9").await.unwrap().median, minutes(7));
    // Other pipelines of the project share it; another project has nothing.
    let other = store.run_times("shop", "other").await.unwrap();
    assert_eq!(other.of("task-0", "command", &Pool::of("local")).unwrap().median, minutes(7));
    let elsewhere = store.run_times("other", "ctr").await.unwrap();
    assert_eq!(elsewhere.of("task-0", "command", &Pool::of("local")), None);
}

async fn a_deleted_project_leaves_none(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    commit(store, (0..4).map(|instance| took(instance, 7, Outcome::Succeeded)).collect()).await;
    assert!(of(store, "task-0").await.is_some());
    let over = RunRecord { state: RunState::Succeeded, ..run(1) };
    store.commit(&lease("a"), &Changes { runs: vec![over], ..Changes::default() }).await.unwrap();
    store.release("a", &[run_id(1)]).await.unwrap();
    store.delete_run(&run_id(1), &audit("run.delete")).await.unwrap();
    assert!(of(store, "task-0").await.is_some());
    store.delete_project("shop", None, &audit("project.delete")).await.unwrap();
    assert_eq!(of(store, "task-0").await, None);
}
