//! The engine dies at any moment, and another continues: nothing is lost, nothing runs twice.

use std::time::Duration;

use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::record::Wish;
use cubeloom_domain::state::RunState;
use cubeloom_testkit::builders::{PipelineBuilder, pipeline};
use cubeloom_testkit::fake::Behaviour;
use serde_json::json;

use crate::fixture::Server;
use crate::on_both;

/// Fifty tasks in layers, with an expansion, failures and retries.
fn layers() -> PipelineBuilder {
    let mut doc = pipeline("layers").task("fan", |task| task.for_each(json!((0..10).collect::<Vec<_>>())));
    for layer in 0..8 {
        for n in 0..5 {
            doc = doc.task(&format!("t{layer}-{n}"), |task| {
                let task = task.attempts(2);
                if layer == 0 {
                    task.needs("fan")
                } else {
                    task.needs(&format!("t{}-{n}", layer - 1)).needs(&format!(
                        "t{}-{}",
                        layer - 1,
                        (n + 1) % 5
                    ))
                }
            });
        }
    }
    doc
}

on_both! {
    async fn restarts_at_random_moments_change_nothing(server: Server) {
        let mut server = server;
        for task in ["t1-1", "t4-3", "t6-0"] {
            server.fake.script(task, [Behaviour::Fail(FailureKind::Exit)]);
        }
        let run = server.run(&layers()).await;
        for moment in 0..40u64 {
            tokio::time::sleep(Duration::from_micros(moment * 397 % 6000)).await;
            server.restart().await;
        }
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        let instances = server.store.instances(&run).await.unwrap();
        assert_eq!(instances.len(), 50);
        assert_eq!(server.fake.started().len(), 53);
        assert!(server.fake.executions().values().all(|count| *count == 1));
    }

    async fn a_running_job_is_taken_up_by_the_next_engine(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        let run = server.run(&pipeline("p").task("a", |task| task).task("b", |task| task.needs("a"))).await;
        let keys = server.running(&["a"]).await;
        server.restart().await;
        server.passes().await;
        assert_eq!(server.fake.running(), keys);
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        assert!(server.fake.executions().values().all(|count| *count == 1));
    }

    async fn what_was_decided_after_the_lease_was_lost_is_not_done(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        let run = server.run(&pipeline("p").task("a", |task| task).task("b", |task| task.needs("a"))).await;
        let keys = server.running(&["a"]).await;
        server.lose_lease(&run).await;
        server.fake.finish(&keys[0], Outcome::Succeeded);
        server.passes().await;
        assert_eq!(server.fake.started(), keys);
        server.store.release("another", std::slice::from_ref(&run)).await.unwrap();
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        assert_eq!(server.fake.started().len(), 2);
        server.assert_clean().await;
    }

    async fn a_wish_is_not_lost_with_the_lease(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        let run = server.run(&pipeline("p").task("a", |task| task)).await;
        let keys = server.running(&["a"]).await;
        server.lose_lease(&run).await;
        server.wish(&run, Wish::Cancel).await;
        server.passes().await;
        assert_eq!(server.fake.running(), keys);
        server.store.release("another", std::slice::from_ref(&run)).await.unwrap();
        assert_eq!(server.ended(&run).await, RunState::Cancelled);
    }

    async fn a_job_that_ended_while_no_engine_ran_is_found(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        let run = server.run(&pipeline("p").task("a", |task| task)).await;
        let keys = server.running(&["a"]).await;
        server.crash().await;
        server.fake.finish(&keys[0], Outcome::Succeeded);
        server.wish(&run, Wish::Cancel).await;
        server.restart().await;
        let state = server.ended(&run).await;
        assert!(matches!(state, RunState::Succeeded | RunState::Cancelled), "{state:?}");
        assert_eq!(server.fake.started().len(), 1);
    }
}
