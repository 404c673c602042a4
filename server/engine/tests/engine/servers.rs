//! Several servers on one database.

use std::time::Duration;

use cubeloom_domain::RunId;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_domain::waiting::WaitRule;
use cubeloom_testkit::builders::pipeline;
use cubeloom_testkit::fake::Behaviour;

use crate::fixture::{PATIENCE, Server};
use crate::on_both;
use crate::sharing::why;

/// Requests a run of a pipeline with at most one active run, whose task runs until it is asked to end.
async fn one_at_a_time(server: &mut Server) -> RunId {
    server
        .run_here(|server| {
            let document = pipeline("p").with(|pipeline| pipeline.max_active_runs = Some(1));
            server.plan(&document.task("a", |task| task))
        })
        .await
}

async fn state(server: &Server, run: &RunId) -> RunState {
    server.store.run(run).await.unwrap().unwrap().state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_of_active_runs_holds_on_all_servers_together() {
    let mut one = Server::postgres().await;
    let mut other = one.beside().await;
    one.fake.script("a", vec![Behaviour::Hold; 4]);
    let first = one_at_a_time(&mut one).await;
    let keys = one.running(&["a"]).await;
    let mut queued = [one_at_a_time(&mut other).await, one_at_a_time(&mut one).await];
    queued.sort();
    both_pass(&one, &other).await;
    assert_eq!(one.fake.started(), keys);
    one.fake.finish(&keys[0], Outcome::Succeeded);
    assert_eq!(one.ended(&first).await, RunState::Succeeded);
    // It does not matter which run ended: the oldest is next.
    for run in &queued {
        let keys = one.running(&["a"]).await;
        assert_eq!(keys[0].run, *run);
        one.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(one.ended(run).await, RunState::Succeeded);
    }
    one.assert_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_runs_that_would_begin_at_once_on_two_servers_no_more_begin_than_may() {
    let mut one = Server::postgres().await;
    let mut other = one.beside().await;
    one.fake.script("a", vec![Behaviour::Hold; 40]);
    let plan = |server: &mut Server| {
        let document = pipeline("p").with(|pipeline| pipeline.max_active_runs = Some(2));
        server.plan(&document.task("a", |task| task))
    };
    let mut runs = Vec::new();
    for _ in 0..10 {
        let (mine, theirs) = (plan(&mut one), plan(&mut other));
        let both = tokio::join!(one.run_plan(&mine), other.run_plan(&theirs));
        runs.extend([both.0, both.1]);
    }
    let all_have_ended = async {
        loop {
            let mut states = Vec::new();
            for run in &runs {
                states.push(state(&one, run).await);
            }
            if states.iter().all(|state| *state == RunState::Succeeded) {
                break;
            }
            let running = one.fake.running();
            assert!(running.len() <= 2, "{running:?}");
            if let Some(key) = running.first() {
                one.fake.finish(key, Outcome::Succeeded);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let ended = tokio::time::timeout(PATIENCE, all_have_ended).await;
    ended.expect("they do not all end");
    one.assert_clean().await;
}

/// A pipeline of one task that takes the whole cluster and runs until it is asked to end.
fn wide(server: &mut Server, task: &str) -> RunPlan {
    server.fake.script(task, vec![Behaviour::Hold; 4]);
    server.plan(&pipeline(task).task(task, |one| one.resources("4", "1Gi")))
}

async fn until_it_waits(server: &Server, run: &RunId, task: &str) {
    let waits = |state: &InstanceState| matches!(state, InstanceState::Waiting { reason: Some(_), .. });
    server.instance_until(run, task, waits).await;
}

/// Each of two servers has done what it would do on its own, including its reaction to the other.
async fn both_pass(one: &Server, other: &Server) {
    for server in [one, other, one, other] {
        server.passes().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_older_job_of_another_server_goes_first() {
    let mut one = Server::postgres().await;
    let mut other = one.beside().await;
    let first = other.run_here(|server| wide(server, "first")).await;
    let keys = one.running(&["first"]).await;
    one.clock.advance(Duration::from_secs(1));
    let older = one.run_here(|server| wide(server, "older")).await;
    until_it_waits(&one, &older, "older").await;
    both_pass(&one, &other).await;
    one.clock.advance(Duration::from_secs(1));
    let newer = other.run_here(|server| wide(server, "newer")).await;
    let (message, explained) = why(&other, &newer, "newer").await;
    assert_eq!(message, "queued behind `older`, which waits for resources");
    assert_eq!((explained.rule, explained.ahead), (WaitRule::Behind, 1));
    assert!(explained.head.is_some_and(|head| head.key.starts_with(older.as_str())));
    let (_, explained) = why(&one, &older, "older").await;
    assert_eq!((explained.rule, explained.ahead), (WaitRule::Capacity, 0));
    // The server that leads the newer one is the first to know of the free capacity.
    one.fake.finish(&keys[0], Outcome::Succeeded);
    assert_eq!(other.ended(&first).await, RunState::Succeeded);
    for (run, task) in [(older, "older"), (newer, "newer")] {
        let keys = one.running(&[task]).await;
        both_pass(&one, &other).await;
        assert_eq!(one.fake.running(), keys);
        one.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(one.ended(&run).await, RunState::Succeeded);
    }
    one.assert_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_that_is_gone_had_waiting_still_goes_first() {
    let mut one = Server::postgres().await;
    let mut other = one.beside().await;
    other.run_here(|server| wide(server, "first")).await;
    let keys = one.running(&["first"]).await;
    one.clock.advance(Duration::from_secs(1));
    let older = one.run_here(|server| wide(server, "older")).await;
    until_it_waits(&one, &older, "older").await;
    one.crash().await;
    one.clock.advance(Duration::from_secs(1));
    let plan = wide(&mut other, "newer");
    let newer = other.run_plan(&plan).await;
    until_it_waits(&other, &newer, "newer").await;
    one.fake.finish(&keys[0], Outcome::Succeeded);
    other.passes().await;
    assert!(one.fake.running().is_empty(), "until its lease is over, room is kept for it");
    one.clock.advance(Duration::from_secs(40));
    for task in ["older", "newer"] {
        let keys = one.running(&[task]).await;
        one.fake.finish(&keys[0], Outcome::Succeeded);
    }
    assert_eq!(other.ended(&newer).await, RunState::Succeeded);
    assert_eq!(other.ended(&older).await, RunState::Succeeded);
}

on_both! {
    async fn room_is_kept_for_another_server_for_two_of_its_leases(server: Server) {
        let mut server = server;
        let older = wide(&mut server, "older");
        let first = wide(&mut server, "first");
        server.run_plan(&first).await;
        let keys = server.running(&["first"]).await;
        let older = server.run_plan(&older).await;
        until_it_waits(&server, &older, "older").await;
        // It appears healthy, and never starts what it leads.
        server.lose_lease(&older).await;
        server.clock.advance(Duration::from_secs(11));
        let newer = wide(&mut server, "newer");
        let newer = server.run_plan(&newer).await;
        until_it_waits(&server, &newer, "newer").await;
        server.fake.finish(&keys[0], Outcome::Succeeded);
        server.passes().await;
        assert!(server.fake.running().is_empty());
        server.clock.advance(Duration::from_secs(59));
        server.passes().await;
        assert!(server.fake.running().is_empty());
        server.clock.advance(Duration::from_secs(2));
        let keys = server.running(&["newer"]).await;
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&newer).await, RunState::Succeeded);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_told_when_there_may_be_room_for_what_waits_there() {
    let mut one = Server::postgres().await;
    one.period = Duration::from_secs(3600);
    one.restart().await;
    let mut other = one.beside().await;
    other.run_here(|server| wide(server, "first")).await;
    let keys = one.running(&["first"]).await;
    one.clock.advance(Duration::from_secs(1));
    let older = one.run_here(|server| wide(server, "older")).await;
    until_it_waits(&one, &older, "older").await;
    one.clock.advance(Duration::from_secs(1));
    // Every server looks at the store when there is a new run, and sees the pending jobs.
    let newer = other.run_here(|server| wide(server, "newer")).await;
    let (_, explained) = why(&other, &newer, "newer").await;
    assert_eq!(explained.ahead, 1);
    one.fake.finish(&keys[0], Outcome::Succeeded);
    let keys = one.running(&["older"]).await;
    one.fake.finish(&keys[0], Outcome::Succeeded);
    let keys = one.running(&["newer"]).await;
    one.fake.finish(&keys[0], Outcome::Succeeded);
    assert_eq!(one.ended(&newer).await, RunState::Succeeded);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_whose_look_was_cut_off_are_taken_up_by_the_next_one() {
    let mut server = Server::postgres().await;
    server.lease = Duration::from_millis(50);
    server.restart().await;
    // Late statements of the previous server are no longer expected.
    tokio::time::sleep(server.lease * 3).await;
    server.execute("ALTER TABLE queues RENAME TO away");
    let run = server.run(&pipeline("p").task("a", |task| task)).await;
    server.until(|| async { server.store.led_by("test").await.unwrap().contains(&run).then_some(()) }).await;
    server.execute("ALTER TABLE away RENAME TO queues");
    // Its lease never expires: the clock stands still.
    assert_eq!(server.ended(&run).await, RunState::Succeeded);
    server.assert_clean().await;
}
