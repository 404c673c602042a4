//! Schedules triggered by the ends of other pipelines' runs, each once, whether the end or the schedule is
//! stored first.

use cubeloom_domain::Timestamp;
use cubeloom_domain::pipeline::EndState;
use cubeloom_domain::record::{Changes, RunRecord};
use cubeloom_domain::schedule::{Awaited, Cause, Event, FiringState, Look, ScheduleState, Trigger};
use cubeloom_domain::state::RunState;
use cubeloom_store::{Expected, FiringFilter, Store};

use crate::people::{audit, version};
use crate::records::run;
use crate::schedules::{of, state};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    the_end_of_a_run_fires_what_waits_for_it_once,
    a_refused_commit_fires_nothing,
    ends_before_the_schedule_was_stored_are_made_up_for,
    neither_an_end_nor_a_schedule_misses_the_other,
    what_came_of_looking_is_kept,
);

fn after(name: &str, ends: EndState) -> ScheduleState {
    let after = Some(Awaited { of: of("ctr"), state: ends, until: Some(Timestamp(1000)) });
    ScheduleState { after, next_at: None, ..state(name) }
}

fn ended(n: u64, state: RunState, at: i64) -> RunRecord {
    RunRecord { state, ended_at: Some(Timestamp(at)), ..run(n) }
}

async fn commit(store: &Store, run: RunRecord) {
    let changes = Changes { runs: vec![run], ..Changes::default() };
    store.commit(&lease("a"), &changes).await.unwrap();
}

async fn fired(store: &Store, pipeline: &str) -> Vec<(i64, String)> {
    let filter = FiringFilter {
        pipeline: Some(pipeline.into()),
        limit: 100,
        oldest_first: true,
        ..Default::default()
    };
    let found = store.firings(&filter).await.unwrap();
    for one in &found {
        assert_eq!((one.trigger, one.state, one.user.as_str()), (Trigger::Pipeline, FiringState::Due, "ada"));
    }
    found.into_iter().map(|one| (one.date.0, one.event.unwrap().what)).collect()
}

/// Five runs end: successful with its own date, failed, cancelled, before the schedule was set, and after its
/// last moment.
async fn five_runs_end(store: &Store) {
    for n in 1..=5 {
        leased_run(store, n, 1, "a").await;
    }
    commit(store, RunRecord { state: RunState::Running, ..run(1) }).await;
    assert_eq!(fired(store, "any").await, []);
    let cause = Cause { date: Some(Timestamp(77)), ..Cause::default() };
    let dated = RunRecord { cause, ..ended(1, RunState::Succeeded, 50) };
    commit(store, dated.clone()).await;
    // A pass may repeat a write.
    commit(store, dated).await;
    let others = [(2, RunState::Failed, 60), (3, RunState::Cancelled, 70)];
    let outside = [(4, RunState::Succeeded, 10), (5, RunState::Succeeded, 1001)];
    for (n, state, at) in others.into_iter().chain(outside) {
        commit(store, ended(n, state, at)).await;
    }
}

async fn the_end_of_a_run_fires_what_waits_for_it_once(Fixture { store, .. }: Fixture) {
    for (name, ends) in [("good", EndState::Succeeded), ("bad", EndState::Failed), ("any", EndState::Ended)] {
        assert!(store.put_schedule(&after(name, ends), 0, None).await.unwrap());
    }
    let paused = ScheduleState { after: None, ..after("paused", EndState::Ended) };
    assert!(store.put_schedule(&paused, 0, None).await.unwrap());
    five_runs_end(&store).await;
    let expected = |n: u64, date| (date, run(n).id.to_string());
    let created = |n: u64| run(n).created_at.0;
    assert_eq!(fired(&store, "good").await, [expected(1, 77)]);
    assert_eq!(fired(&store, "bad").await, [expected(2, created(2))]);
    let any = [expected(1, 77), expected(2, created(2)), expected(3, created(3))];
    assert_eq!(fired(&store, "any").await, any);
    assert_eq!(fired(&store, "paused").await, []);
    let found = store.firing(&of("good"), Timestamp(77)).await.unwrap().unwrap();
    assert_eq!(found.event, Some(Event { at: Timestamp(50), what: run(1).id.to_string() }));
}

async fn a_refused_commit_fires_nothing(Fixture { store, .. }: Fixture) {
    store.put_schedule(&after("next", EndState::Ended), 0, None).await.unwrap();
    leased_run(&store, 1, 1, "a").await;
    let changes = Changes { runs: vec![ended(1, RunState::Failed, 50)], ..Changes::default() };
    assert!(store.commit(&lease("b"), &changes).await.is_err());
    assert_eq!(fired(&store, "next").await, []);
}

async fn ends_before_the_schedule_was_stored_are_made_up_for(Fixture { store, .. }: Fixture) {
    for (n, at) in [(1, 9), (2, 50)] {
        leased_run(&store, n, 1, "a").await;
        commit(&store, ended(n, RunState::Succeeded, at)).await;
    }
    // The version with the schedule was stored at 10, and is only checked now.
    store.put_schedule(&after("next", EndState::Succeeded), 0, None).await.unwrap();
    let expected = [(run(2).created_at.0, run(2).id.to_string())];
    assert_eq!(fired(&store, "next").await, expected);
    // A repeated store changes nothing.
    assert!(store.put_schedule(&after("next", EndState::Succeeded), 1, None).await.unwrap());
    assert_eq!(fired(&store, "next").await, expected);
    store.put_schedule(&after("failed", EndState::Failed), 0, None).await.unwrap();
    assert_eq!(fired(&store, "failed").await, []);
}

/// In either order: without serialization neither transaction would see the other.
async fn neither_an_end_nor_a_schedule_misses_the_other(fixture: Fixture) {
    let (store, second) = (fixture.store.clone(), fixture.second().await);
    store.put_pipeline(&version("ctr"), Expected::Any, &audit("pipeline.put")).await.unwrap();
    for n in 1..=20 {
        leased_run(&store, n, 1, "a").await;
        let name = format!("next-{n}");
        let state = after(&name, EndState::Succeeded);
        let (_, done) = tokio::join!(
            commit(&store, ended(n, RunState::Succeeded, 50)),
            second.put_schedule(&state, 0, None)
        );
        assert!(done.unwrap());
        let found = fired(&store, &name).await;
        assert!(found.iter().any(|(_, run_id)| *run_id == run(n).id.to_string()), "{n}: {found:?}");
    }
}

async fn what_came_of_looking_is_kept(Fixture { store, .. }: Fixture) {
    let look = Look {
        tried_at: Some(Timestamp(20)),
        looked_at: Some(Timestamp(15)),
        failures: 2,
        error: Some("no answer".into()),
    };
    let looked = ScheduleState { look: Some(look), ..state("ctr") };
    assert!(store.put_schedule(&looked, 0, None).await.unwrap());
    assert_eq!(store.schedule(&of("ctr")).await.unwrap(), Some(looked));
    let waiting = after("next", EndState::Failed);
    store.put_schedule(&waiting, 0, None).await.unwrap();
    assert_eq!(store.schedule(&of("next")).await.unwrap(), Some(waiting));
}
