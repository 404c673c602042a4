//! Retries, timeouts, and attempts that no cluster knows any more.

use std::time::Duration;

use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::pipeline::{Backoff, Retry};
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_testkit::builders::{pipeline, span};
use cubeloom_testkit::fake::Behaviour;

use crate::fixture::Server;
use crate::on_both;

on_both! {
    async fn a_failed_attempt_is_followed_by_another_until_there_are_no_more(server: Server) {
        let mut server = server;
        server.fake.script("flaky", [Behaviour::Fail(FailureKind::Exit), Behaviour::Fail(FailureKind::OutOfMemory)]);
        server.fake.script("broken", vec![Behaviour::Fail(FailureKind::Signal); 3]);
        let doc = pipeline("p")
            .task("flaky", |task| task.attempts(3))
            .task("broken", |task| task.attempts(2));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Failed);
        assert_eq!(server.states(&run).await, ["broken.0=failed", "flaky.0=succeeded"]);
        let attempts = server.store.attempts(&run).await.unwrap();
        let numbers = |task: &str| attempts.iter().filter(|row| row.key.task == task).map(|row| row.key.n).collect::<Vec<_>>();
        assert_eq!((numbers("flaky"), numbers("broken")), (vec![1, 2, 3], vec![1, 2]));
        server.assert_clean().await;
    }

    async fn the_wait_before_another_attempt_survives_a_restart(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Fail(FailureKind::Exit)]);
        let retry = Retry { attempts: 2, backoff: Some(Backoff { initial: span("1h"), factor: None, max: None }), on: None };
        let doc = pipeline("p").task("a", |task| task.with(|task| task.retry = Some(retry)));
        let run = server.run(&doc).await;
        server.instance_until(&run, "a", |state| matches!(state, InstanceState::Backoff { .. })).await;
        server.restart().await;
        server.clock.advance(Duration::from_secs(3599));
        server.passes().await;
        assert_eq!(server.fake.started().len(), 1);
        server.clock.advance(Duration::from_secs(2));
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
    }

    async fn an_attempt_that_takes_too_long_is_stopped(server: Server) {
        let mut server = server;
        server.fake.script("slow", [Behaviour::Hold]);
        let doc = pipeline("p").task("slow", |task| task.with(|task| task.timeout = Some(span("5m"))));
        let run = server.run(&doc).await;
        server.running(&["slow"]).await;
        // The fake cluster reports real time, which is long after the test's clock.
        server.clock.advance(Duration::from_secs(100 * 365 * 86_400));
        assert_eq!(server.ended(&run).await, RunState::Failed);
        let row = server.instance(&run, "slow", 0).await.unwrap();
        let InstanceState::Failed { failure } = row.state else { panic!("{row:?}") };
        assert_eq!(failure.kind, FailureKind::Timeout);
        assert_eq!(failure.message, "it ran longer than its timeout of 5m");
    }

    async fn a_lost_attempt_is_tried_again_without_being_asked(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Vanish]);
        let run = server.run(&pipeline("p").task("a", |task| task)).await;
        server.until(|| async { (server.fake.started().len() == 1).then_some(()) }).await;
        server.instance_until(&run, "a", |state| *state == InstanceState::ACTIVE).await;
        server.until(|| async {
            let attempts = server.store.attempts(&run).await.unwrap();
            attempts.first().filter(|row| row.state.as_str() == "running").map(|_| ())
        }).await;
        server.restart().await;
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        assert_eq!(server.fake.started().len(), 2);
        let first = &server.store.attempts(&run).await.unwrap()[0];
        assert!(format!("{:?}", first.state).contains("Lost"), "{first:?}");
    }

    async fn a_failure_after_a_stop_counts_as_the_stop(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        let run = server.run(&pipeline("p").task("a", |task| task.attempts(5))).await;
        let keys = server.running(&["a"]).await;
        server.wish(&run, cubeloom_domain::record::Wish::Cancel).await;
        assert_eq!(server.ended(&run).await, RunState::Cancelled);
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.states(&run).await, ["a.0=cancelled"]);
        server.assert_clean().await;
    }
}
