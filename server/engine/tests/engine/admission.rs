//! Who starts when not all fit.

use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::pipeline::{ForEach, Placement, Spread};
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_testkit::builders::pipeline;
use cubeloom_testkit::fake::Behaviour;
use serde_json::json;

use crate::fixture::Server;
use crate::on_both;

on_both! {
    async fn what_does_not_fit_waits_says_why_and_starts_when_there_is_room(server: Server) {
        let mut server = server;
        for task in ["big", "next"] {
            server.fake.script(task, [Behaviour::Hold]);
        }
        let doc = pipeline("p")
            .task("big", |task| task.resources("3", "1Gi").with(|task| task.priority = Some(5)))
            .task("next", |task| task.resources("2", "1Gi"));
        let run = server.run(&doc).await;
        let first = server.running(&["big"]).await;
        let row = server.instance_until(&run, "next", |state| matches!(state, InstanceState::Waiting { reason: Some(_), .. })).await;
        let InstanceState::Waiting { reason: Some(reason), .. } = row.state else { panic!() };
        assert_eq!(reason.message(), "asks for 2 CPU, 1 are free");
        server.fake.finish(&first[0], Outcome::Succeeded);
        let second = server.running(&["next"]).await;
        server.fake.finish(&second[0], Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        server.assert_clean().await;
    }

    async fn parallelism_of_pipeline_and_task_is_kept(server: Server) {
        let mut server = server;
        server.fake.script("each", vec![Behaviour::Hold; 6]);
        server.fake.script("other", vec![Behaviour::Hold]);
        let for_each = ForEach { list: Some(json!([1, 2, 3, 4, 5, 6])), matrix: None, from: None, parallelism: Some(2) };
        let doc = pipeline("p")
            .with(|pipeline| pipeline.parallelism = Some(3))
            .task("each", |task| task.with(|task| task.for_each = Some(for_each)))
            .task("other", |task| task);
        let run = server.run(&doc).await;
        let mut seen = 0;
        while seen < 7 {
            let running = server.until(|| async {
                let running = server.fake.running();
                (!running.is_empty()).then_some(running)
            }).await;
            let of_task = |name: &str| running.iter().filter(|key| key.task == name).count();
            assert!(of_task("each") <= 2 && running.len() <= 3, "{running:?}");
            server.fake.finish(&running[0], Outcome::Succeeded);
            seen += 1;
        }
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        server.assert_clean().await;
    }

    async fn runs_beyond_max_active_runs_wait_in_order(server: Server) {
        let mut server = server;
        server.fake.script("a", vec![Behaviour::Hold; 3]);
        let doc = pipeline("p").with(|pipeline| pipeline.max_active_runs = Some(1)).task("a", |task| task);
        let runs = [server.run(&doc).await, server.run(&doc).await, server.run(&doc).await];
        for run in &runs {
            let keys = server.running(&["a"]).await;
            assert_eq!(keys[0].run, *run);
            server.fake.finish(&keys[0], Outcome::Succeeded);
            assert_eq!(server.ended(run).await, RunState::Succeeded);
        }
    }

    async fn required_spread_waits_for_the_runs_other_tasks(server: Server) {
        let mut server = server;
        for task in ["a", "apart"] {
            server.fake.script(task, [Behaviour::Hold]);
        }
        let placement = Placement { spread: Some(Spread::Required), ..Placement::default() };
        let doc = pipeline("p")
            .task("a", |task| task)
            .task("apart", |task| task.with(|task| task.placement = Some(placement)));
        let run = server.run(&doc).await;
        let keys = server.running(&["a"]).await;
        let row = server.instance_until(&run, "apart", |state| matches!(state, InstanceState::Waiting { reason: Some(_), .. })).await;
        let InstanceState::Waiting { reason: Some(reason), .. } = row.state else { panic!() };
        assert_eq!(reason.message(), "must not share its node with `a` of the same run");
        server.fake.finish(&keys[0], Outcome::Succeeded);
        let keys = server.running(&["apart"]).await;
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
    }
}
