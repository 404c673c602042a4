//! What runs, in which order, with which values.

use std::time::Duration;

use cubeloom_domain::Clock;
use cubeloom_domain::outcome::FailureKind;
use cubeloom_domain::pipeline::TriggerRule;
use cubeloom_domain::record::{TakenOver, Wish};
use cubeloom_domain::state::{AttemptState, InstanceState, RunState};
use cubeloom_testkit::builders::{outputs, pipeline};
use cubeloom_testkit::fake::Behaviour;
use serde_json::json;

use crate::fixture::Server;
use crate::on_both;

on_both! {
    async fn a_diamond_runs_in_order(server: Server) {
        let mut server = server;
        let diamond = pipeline("diamond")
            .task("d", |task| task.needs("b").needs("c"))
            .task("b", |task| task.needs("a"))
            .task("c", |task| task.needs("a"))
            .task("a", |task| task);
        let (_, state) = server.run_to_end(&diamond).await;
        assert_eq!(state, RunState::Succeeded);
        let order: Vec<String> = server.fake.started().into_iter().map(|key| key.task).collect();
        assert_eq!((order.first().unwrap().as_str(), order.last().unwrap().as_str()), ("a", "d"));
        assert_eq!(order.len(), 4);
        server.assert_clean().await;
    }

    async fn nothing_ends_before_it_began_where_the_clock_of_a_cluster_is_behind(server: Server) {
        let mut server = server;
        server.clock.advance(Duration::from_secs(100 * 365 * 24 * 3600));
        server.fake.script("cancelled", [Behaviour::Hold]);
        let (run, _) = server.run_to_end(&pipeline("p").task("a", |task| task).task("b", |task| task.needs("a"))).await;
        let cancelled = server.run(&pipeline("q").task("cancelled", |task| task)).await;
        server.running(&["cancelled"]).await;
        server.wish(&cancelled, Wish::Cancel).await;
        assert_eq!(server.ended(&cancelled).await, RunState::Cancelled);
        for run in [run, cancelled] {
            for attempt in server.store.attempts(&run).await.unwrap() {
                let AttemptState::Ended { started_at: Some(began), ended_at, .. } = attempt.state else { panic!("{attempt:?}") };
                assert!(attempt.created_at <= began && began <= ended_at, "{attempt:?}");
            }
            let record = server.store.run(&run).await.unwrap().unwrap();
            assert!(record.created_at <= record.started_at.unwrap() && record.started_at <= record.ended_at, "{record:?}");
        }
    }

    async fn a_run_begins_and_ends_no_earlier_than_a_server_with_a_fast_clock_created_it(server: Server) {
        let mut server = server;
        let plan = server.plan(&pipeline("p").task("a", |task| task));
        let created_at = server.clock.now().plus(Duration::from_secs(100 * 365 * 24 * 3600));
        let run = server.run_created(&plan, &TakenOver::default(), created_at).await;
        server.ended(&run).await;
        let record = server.store.run(&run).await.unwrap().unwrap();
        assert_eq!((record.started_at, record.ended_at), (Some(created_at), Some(created_at)));
    }

    async fn a_failure_passes_over_what_needs_it_and_fails_the_run(server: Server) {
        let mut server = server;
        server.fake.script("b", [Behaviour::Fail(FailureKind::Exit)]);
        let doc = pipeline("p")
            .task("a", |task| task)
            .task("b", |task| task)
            .task("after", |task| task.needs("b"))
            .task("last", |task| task.needs("after").needs("a"))
            .task("cleanup", |task| task.needs("last").trigger(TriggerRule::AllDone));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Failed);
        let states = server.states(&run).await;
        let expected =
            ["a.0=succeeded", "after.0=upstream_failed", "b.0=failed", "cleanup.0=succeeded", "last.0=upstream_failed"];
        assert_eq!(states, expected);
    }

    async fn outputs_reach_later_tasks_conditions_and_expansions(server: Server) {
        let mut server = server;
        server.fake.script("list", [Behaviour::Outputs(outputs(json!({"parts": ["x", "y", "z"], "go": false})))]);
        server.fake.script("each", [
            Behaviour::Outputs(outputs(json!({"n": 1}))),
            Behaviour::Outputs(outputs(json!({"n": 2}))),
            Behaviour::Outputs(outputs(json!({"n": 3}))),
        ]);
        let doc = pipeline("p")
            .task("list", |task| task)
            .task("each", |task| task.needs("list").for_each_from("tasks.list.outputs.parts"))
            .task("no", |task| task.needs("list").with(|task| task.when = Some("tasks.list.outputs.go".into())))
            .task("sum", |task| {
                task.needs("each").with(|task| task.when = Some("tasks.each.outputs.n | length == 3".into()))
            });
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Succeeded);
        let expected = [
            "each.0=succeeded", "each.1=succeeded", "each.2=succeeded", "list.0=succeeded", "no.0=skipped", "sum.0=succeeded",
        ];
        assert_eq!(server.states(&run).await, expected);
    }

    async fn an_expression_that_fails_is_the_tasks_failure(server: Server) {
        let mut server = server;
        let doc = pipeline("p")
            .task("a", |task| task)
            .task("b", |task| task.needs("a").for_each_from("tasks.a.outputs.missing"));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Failed);
        let row = server.instance(&run, "b", 0).await.unwrap();
        let InstanceState::Failed { failure } = row.state else { panic!("{row:?}") };
        assert_eq!(failure.kind, FailureKind::Expression);
    }

    async fn an_empty_expansion_succeeds(server: Server) {
        let mut server = server;
        let doc = pipeline("p")
            .task("none", |task| task.for_each(json!([])))
            .task("after", |task| task.needs("none"));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Succeeded);
        assert_eq!(server.states(&run).await, ["after.0=succeeded"]);
    }

    async fn a_thousand_tasks_in_a_chain_of_skips_use_no_stack(server: Server) {
        let mut server = server;
        let mut doc = pipeline("p").task("t0", |task| task.with(|task| task.when = Some("false".into())));
        for n in 1..1000 {
            doc = doc.task(&format!("t{n}"), |task| task.needs(&format!("t{}", n - 1)));
        }
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Succeeded);
        assert!(server.states(&run).await.iter().all(|state| state.ends_with("=skipped")));
    }
}
