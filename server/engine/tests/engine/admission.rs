//! Which jobs start when not all fit.

use std::time::Duration;

use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::pipeline::{ForEach, Placement, Spread};
use cubeloom_domain::priority::Priority;
use cubeloom_domain::record::Wish;
use cubeloom_domain::state::{InstanceState, RunState, WaitReason};
use cubeloom_domain::waiting::WaitRule;
use cubeloom_domain::{Cpu, RunId};
use cubeloom_testkit::builders::pipeline;
use cubeloom_testkit::fake::Behaviour;
use serde_json::json;

use crate::fixture::Server;
use crate::on_both;

/// The pending reason of an instance of `each` that waits for others of its task.
async fn kept(server: &Server, run: &RunId, instance: u32) -> (String, WaitRule, Option<u32>) {
    let told = async || {
        let row = server.instance(run, "each", instance).await?;
        let InstanceState::Waiting { reason: Some(reason), .. } = &row.state else { return None };
        let why = reason.explanation().filter(|_| matches!(reason, WaitReason::Parallelism { .. }))?;
        Some((reason.message().to_owned(), why.rule, why.parallelism))
    };
    server.until(told).await
}

on_both! {
    async fn what_does_not_fit_waits_says_why_and_starts_when_there_is_room(server: Server) {
        let mut server = server;
        for task in ["big", "next"] {
            server.fake.script(task, [Behaviour::Hold]);
        }
        let doc = pipeline("p")
            .task("big", |task| task.resources("3", "1Gi").with(|task| task.priority = Some(Priority::Number(5))))
            .task("next", |task| task.resources("2", "1Gi"));
        let run = server.run(&doc).await;
        let first = server.running(&["big"]).await;
        let row = server.instance_until(&run, "next", |state| matches!(state, InstanceState::Waiting { reason: Some(_), .. })).await;
        let InstanceState::Waiting { reason: Some(reason), .. } = row.state else { panic!() };
        assert_eq!(reason.message(), "requests 2 CPU, 1 is free");
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
            .task("each", |task| task.with(|task| task.for_each = Some(Box::new(for_each))))
            .task("other", |task| task);
        let run = server.run(&doc).await;
        let first = server.running(&["each", "each", "other"]).await;
        let told = kept(&server, &run, 5).await;
        assert_eq!(told, ("the task's parallelism is 2".to_owned(), WaitRule::TaskParallelism, Some(2)));
        server.restart().await;
        assert_eq!(server.running(&["each", "each", "other"]).await, first);
        assert_eq!(kept(&server, &run, 5).await, told);
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

    async fn who_stands_in_the_line_of_its_run_comes_by_its_priority_before_the_rest_of_a_task(server: Server) {
        let mut server = server;
        server.fake.script("each", vec![Behaviour::Hold; 4]);
        for task in ["first", "next", "other"] {
            server.fake.script(task, [Behaviour::Hold]);
        }
        let for_each = ForEach { list: Some(json!([1, 2, 3, 4])), matrix: None, from: None, parallelism: Some(2) };
        let doc = pipeline("p")
            .with(|pipeline| pipeline.parallelism = Some(2))
            .task("each", |task| task.with(|task| task.for_each = Some(Box::new(for_each))))
            .task("first", |task| task.with(|task| task.priority = Some(Priority::Number(5))))
            .task("next", |task| task.needs("first").with(|task| task.priority = Some(Priority::Number(5))))
            .task("other", |task| task.needs("first").with(|task| task.priority = Some(Priority::Number(5))));
        let run = server.run(&doc).await;
        let end = async |server: &Server, going: &[&str], ends: &str| {
            let keys = server.running(going).await;
            server.fake.finish(keys.iter().find(|key| key.task == ends).unwrap(), Outcome::Succeeded);
        };
        end(&server, &["each", "first"], "first").await;
        server.running(&["each", "next"]).await;
        server.restart().await;
        end(&server, &["each", "next"], "each").await;
        end(&server, &["next", "other"], "next").await;
        end(&server, &["each", "other"], "other").await;
        for left in [2, 2, 1] {
            end(&server, &["each"; 2][..left], "each").await;
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

    async fn a_restart_keeps_the_limit_of_active_runs(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        let doc = pipeline("p").with(|pipeline| pipeline.max_active_runs = Some(1)).task("a", |task| task);
        let (older, newer) = (server.plan(&doc), server.plan(&doc));
        let active = server.run_plan(&newer).await;
        let keys = server.running(&["a"]).await;
        let queued = server.run_plan(&older).await;
        server.restart().await;
        // A statement that the dead engine had sent may have acquired the queued run: then its lease must
        // expire.
        server.clock.advance(Duration::from_secs(31));
        server.passes().await;
        assert_eq!(server.fake.started(), keys);
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&active).await, RunState::Succeeded);
        assert_eq!(server.ended(&queued).await, RunState::Succeeded);
    }

    async fn a_long_queue_of_runs_that_end_at_once_uses_no_stack(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        let limited = |name: &str| pipeline(name).with(|pipeline| pipeline.max_active_runs = Some(1));
        let first = server.run(&limited("p").task("a", |task| task)).await;
        let keys = server.running(&["a"]).await;
        let skipped = limited("p").task("a", |task| task.with(|task| task.when = Some("false".into())));
        let mut last = first;
        for _ in 0..500 {
            last = server.run(&skipped).await;
        }
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&last).await, RunState::Succeeded);
        assert_eq!(server.fake.started().len(), 1);
    }

    async fn nobody_waits_behind_what_no_longer_fits(server: Server) {
        let mut server = server;
        let mut plan = server.plan(&pipeline("big").task("big", |task| task.resources("3", "1Gi")));
        plan.tasks[0].roles[0].resources.cpu = Cpu(9000);
        let big = server.run_plan(&plan).await;
        let row = server.instance_until(&big, "big", |state| matches!(state, InstanceState::Waiting { reason: Some(_), .. })).await;
        let InstanceState::Waiting { reason: Some(reason), .. } = row.state else { panic!() };
        assert_eq!(reason.message(), "requests 9 CPU, only 4 exist");
        server.clock.advance(Duration::from_secs(11));
        let (_, state) = server.run_to_end(&pipeline("p").task("small", |task| task)).await;
        assert_eq!(state, RunState::Succeeded);
        server.wish(&big, Wish::Cancel).await;
        assert_eq!(server.ended(&big).await, RunState::Cancelled);
    }

    async fn a_run_on_an_unknown_cluster_says_so(server: Server) {
        let mut server = server;
        let mut plan = server.plan(&pipeline("p").task("a", |task| task));
        plan.cluster = "gone".into();
        let run = server.run_plan(&plan).await;
        let row = server.instance_until(&run, "a", |state| matches!(state, InstanceState::Waiting { reason: Some(_), .. })).await;
        let InstanceState::Waiting { reason: Some(reason), .. } = row.state else { panic!() };
        assert_eq!(reason.message(), "this server has no cluster `gone`");
        server.wish(&run, Wish::Cancel).await;
        assert_eq!(server.ended(&run).await, RunState::Cancelled);
    }

    async fn required_spread_waits_for_the_runs_other_tasks(server: Server) {
        let mut server = server;
        for task in ["a", "apart"] {
            server.fake.script(task, [Behaviour::Hold]);
        }
        let placement = Placement { spread: Some(Spread::Required), ..Placement::default() };
        let doc = pipeline("p")
            .task("a", |task| task)
            .task("apart", |task| task.with(|task| task.placement = Some(Box::new(placement))));
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

    async fn tasks_of_a_sub_run_wait_for_those_of_the_outermost_run(server: Server) {
        let mut server = server;
        for task in ["apart", "inner"] {
            server.fake.script(task, [Behaviour::Hold]);
        }
        let placement = Placement { spread: Some(Spread::Required), ..Placement::default() };
        let doc = pipeline("outer").task("apart", |task| task.with(|task| task.placement = Some(Box::new(placement))));
        let outer = server.run(&doc).await;
        let keys = server.running(&["apart"]).await;
        let mut plan = server.plan(&pipeline("p").task("inner", |task| task));
        plan.context.root = Some(outer.clone());
        let run = server.run_plan(&plan).await;
        server.instance_until(&run, "inner", |state| matches!(state, InstanceState::Waiting { reason: Some(_), .. })).await;
        server.fake.finish(&keys[0], Outcome::Succeeded);
        let keys = server.running(&["inner"]).await;
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&outer).await, RunState::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
    }
}
