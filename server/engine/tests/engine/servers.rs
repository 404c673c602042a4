//! Several servers on one database.

use std::time::Duration;

use cubeloom_domain::RunId;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::state::RunState;
use cubeloom_testkit::builders::pipeline;
use cubeloom_testkit::fake::Behaviour;

use crate::fixture::{PATIENCE, Server};

/// Asks for a run of a pipeline of which one may be active, whose task goes on until it is told to end.
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
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(one.fake.started(), keys);
    one.fake.finish(&keys[0], Outcome::Succeeded);
    assert_eq!(one.ended(&first).await, RunState::Succeeded);
    // Whose end it was is no matter: the oldest is next.
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
