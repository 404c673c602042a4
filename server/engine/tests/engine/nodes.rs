//! Nodes through which attempts fail.

use cubeloom_domain::executor::Executor;
use cubeloom_domain::nodes::AsideReason;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_domain::waiting::WaitRule;
use cubeloom_testkit::builders::{TaskBuilder, pipeline};
use cubeloom_testkit::fake::Behaviour;

use crate::fixture::Server;
use crate::on_both;
use crate::sharing::{named, why};

fn nodes(server: &Server) -> Vec<String> {
    server.fake.facts().nodes.into_iter().map(|node| node.name).collect()
}

on_both! {
    async fn a_gang_waits_for_nodes_on_which_others_leave_its_workers_room(server: Server) {
        let mut server = server;
        // Each has four CPUs.
        server.with_others(&[("a", "2"), ("b", "2"), ("c", "1"), ("d", "1")]).await;
        server.fake.script("one", [Behaviour::Hold]);
        server.run(&pipeline("first").task("one", |task| task.resources("3", "1Gi"))).await;
        let one = server.running(&["one"]).await;
        let gang = |task: TaskBuilder| task.template("gang").argument("workers", 2).resources("3", "1Gi");
        let run = server.run(&pipeline("second").task("pair", gang)).await;
        let (message, explained) = why(&server, &run, "pair").await;
        assert_eq!((explained.rule, named(&explained)), (WaitRule::Scattered, one.clone()));
        assert_eq!(message, "enough is free in total, but too fragmented for all of its workers");
        server.fake.finish(&one[0], Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
    }

    async fn where_something_is_short_that_nobody_asks_for_nothing_starts_and_all_are_told(server: Server) {
        let mut server = server;
        server.fake.hold_up(Some("its disk is nearly full"));
        let run = server.run(&pipeline("p").task("one", |task| task)).await;
        let is_told = |state: &InstanceState| {
            let InstanceState::Waiting { reason: Some(reason), .. } = state else { return false };
            reason.message() == "its disk is nearly full"
        };
        server.instance_until(&run, "one", is_told).await;
        assert!(server.fake.started().is_empty());
        server.fake.hold_up(None);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
    }

    async fn a_held_project_waits_and_says_why(server: Server) {
        let mut server = server;
        server.fake.hold_project("default", Some("its storage is full"));
        let run = server.run(&pipeline("p").task("one", |task| task)).await;
        server.instance_until(&run, "one", |state| waits_for(state) == Some("its storage is full")).await;
        server.fake.hold_project("default", Some("its storage is fuller"));
        server.instance_until(&run, "one", |state| waits_for(state) == Some("its storage is fuller")).await;
        assert!(server.fake.started().is_empty());
        server.fake.hold_project("other", Some("its storage is full"));
        server.fake.hold_project("default", None);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
    }

    async fn a_node_through_which_attempts_fail_gets_no_more(server: Server) {
        let mut server = server;
        server.with_nodes(&["a", "b", "c"]).await;
        server.fake.script("train", vec![Behaviour::Hold; 3]);
        let run = server.run(&pipeline("p").task("train", |task| task.attempts(4))).await;
        for tries in 1..=3 {
            assert_eq!(nodes(&server), ["a", "b", "c"]);
            let key = server.running(&["train"]).await.remove(0);
            assert_eq!(key.n, tries);
            let failure = Failure::new(FailureKind::Lost, "train-0 is lost with its node");
            server.fake.finish(&key, Outcome::Failed(Failure { node: Some("b".into()), ..failure }));
            server.until(|| async { (server.fake.started().len() > tries as usize).then_some(()) }).await;
        }
        assert_eq!(server.ended(&run).await, RunState::Succeeded, "the fourth attempt");
        server.until(|| async { (nodes(&server) == ["a", "c"]).then_some(()) }).await;
        let aside = server.store.nodes_aside().await.unwrap();
        assert!(matches!(&aside[0].why, AsideReason::Failures { failures } if failures.len() == 3), "{aside:?}");

        // The next engine cordons them on a cluster that does not know.
        server.with_nodes(&["a", "b", "c"]).await;
        server.until(|| async { (nodes(&server) == ["a", "c"]).then_some(()) }).await;
    }
}

/// Why an instance is pending.
fn waits_for(state: &InstanceState) -> Option<&str> {
    let InstanceState::Waiting { reason: Some(reason), .. } = state else { return None };
    Some(reason.message())
}
