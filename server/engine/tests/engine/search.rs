//! Searches: trials are chosen, stopped and ended by the results of others.

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::{Metric, Report};
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::record::Wish;
use cubeloom_domain::search::Search;
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_testkit::builders::{PipelineBuilder, pipeline};
use cubeloom_testkit::fake::Behaviour;
use serde_json::{Value, json};

use crate::fixture::Server;
use crate::on_both;

/// A task `tune` with a search, and a downstream task that only runs if the best value of `x` is near 3.
fn tuned(search: Value) -> PipelineBuilder {
    let search: Search = serde_json::from_value(search).unwrap();
    pipeline("p")
        .task("tune", |task| {
            task.with(|task| {
                task.env = [("X".to_owned(), "{{ item.x }}".to_owned())].into();
                task.search = Some(Box::new(search));
            })
        })
        .task("after", |task| {
            let near = "(tasks.tune.outputs.best.parameters.x - 3) | abs < 0.5 and tasks.tune.outputs.best.value < 0.3";
            task.needs("tune").with(|task| task.when = Some(near.into()))
        })
}

/// The square of the distance of `x` from 3, as a metric of several steps.
fn distance(job: &Job) -> Report {
    let x: f64 = job.env["X"].parse().unwrap();
    let metric =
        |step: f64| Metric { name: "loss".into(), value: (x - 3.0).powi(2) + 2.0 - step, step: Some(step) };
    // Unordered: the last step counts.
    Report { metrics: vec![metric(2.0), metric(0.0), metric(1.0)], ..Report::default() }
}

fn loss(step: f64, value: f64) -> Metric {
    Metric { name: "loss".into(), value, step: Some(step) }
}

fn trial(keys: &[AttemptKey], instance: u32) -> AttemptKey {
    keys.iter().find(|key| key.instance == instance).unwrap().clone()
}

on_both! {
    async fn a_grid_tries_every_combination_and_the_best_is_an_output(server: Server) {
        let mut server = server;
        server.fake.script("tune", std::iter::repeat_n(Behaviour::Compute(distance), 100));
        let range = json!({"type": "integer", "minimum": 1, "maximum": 5});
        let doc = tuned(json!({"method": "grid", "over": {"x": range, "y": ["a", "b"]}, "minimize": "loss"}));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Succeeded);
        let states = server.states(&run).await;
        assert_eq!(states.len(), 11, "{states:?}");
        assert!(states.iter().all(|state| state.ends_with("=succeeded")), "{states:?}");
        server.assert_clean().await;
    }

    async fn later_trials_follow_from_earlier_ones(server: Server) {
        let mut server = server;
        server.fake.script("tune", std::iter::repeat_n(Behaviour::Compute(distance), 100));
        let range = json!({"minimum": -100, "maximum": 100});
        let doc = tuned(json!({"over": {"x": range}, "minimize": "loss", "trials": 60, "seed": 7}));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Succeeded);
        let items = server.store.items_of(&run, cubeloom_domain::TaskIx(0)).await.unwrap().unwrap();
        assert_eq!(items.len(), 60);
        let far = |items: &[Value]| items.iter().map(|item| (item["x"].as_f64().unwrap() - 3.0).abs()).sum::<f64>();
        assert!(far(&items[40..]) < far(&items[..20]) / 2.0, "{items:?}");
        server.assert_clean().await;
    }

    async fn a_search_goes_on_where_an_earlier_server_left_it(server: Server) {
        let mut server = server;
        server.fake.script("tune", [Behaviour::Compute(distance), Behaviour::Hold]);
        server.fake.script("tune", std::iter::repeat_n(Behaviour::Compute(distance), 10));
        let range = json!({"minimum": 2.6, "maximum": 3.4});
        let doc = tuned(json!({"over": {"x": range}, "minimize": "loss", "trials": 6, "parallelism": 1}));
        let run = server.run(&doc).await;
        let held = server.running(&["tune"]).await;
        let before = server.store.items_of(&run, cubeloom_domain::TaskIx(0)).await.unwrap().unwrap();
        assert_eq!(before.len(), 2, "the third follows from what the second gives");
        server.restart().await;
        server.fake.finish_with(&held[0], Outcome::Succeeded, Report { metrics: vec![loss(1.0, 9.0)], ..Report::default() });
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        let items = server.store.items_of(&run, cubeloom_domain::TaskIx(0)).await.unwrap().unwrap();
        assert_eq!((items.len(), &items[..2]), (6, &before[..]));
        server.assert_clean().await;
    }

    async fn some_trials_may_fail(server: Server) {
        let mut server = server;
        let (bad, good) = (Behaviour::Fail(FailureKind::OutOfMemory), Behaviour::Compute(distance));
        // A trial without a reported value has failed, too.
        server.fake.script("tune", [bad, Behaviour::Succeed, good.clone(), good]);
        let doc = tuned(json!({"method": "random", "over": {"x": {"minimum": 2.9, "maximum": 3.1}}, "minimize": "loss", "trials": 4, "parallelism": 1, "max_failures": 2}));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Succeeded, "{:?}", server.states(&run).await);
        let InstanceState::Failed { failure } = server.instance(&run, "tune", 1).await.unwrap().state else { panic!() };
        assert!(failure.message.contains("did not report the metric or output `loss`"), "{failure:?}");
        // After a rerun, failures do not matter: the search has succeeded.
        server.wish(&run, Wish::Resume).await;
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        assert_eq!(server.fake.executions().len(), 5);
    }

    async fn a_search_ends_when_too_many_trials_have_failed(server: Server) {
        let mut server = server;
        let bad = Behaviour::Fail(FailureKind::Exit);
        server.fake.script("tune", [Behaviour::Hold, bad.clone(), bad]);
        let doc = tuned(json!({"method": "random", "over": {"x": {"minimum": 2.9, "maximum": 3.1}}, "minimize": "loss", "trials": 30, "parallelism": 2, "max_failures": 1}));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Failed);
        let states = server.states(&run).await;
        let count = |word: &str| states.iter().filter(|state| state.ends_with(word)).count();
        assert_eq!((count("=failed"), count("=cancelled"), count("=upstream_failed")), (2, 28, 1), "{states:?}");
        assert_eq!(server.fake.executions().len(), 3);
        let note = server.instance(&run, "tune", 29).await.unwrap().note;
        assert_eq!(note.as_deref(), Some("the search was stopped, because 2 of its trials failed"));
        // After a resume, the rest is tried, and failed trials are retried.
        server.fake.script("tune", std::iter::repeat_n(Behaviour::Compute(distance), 40));
        server.wish(&run, Wish::Resume).await;
        server.until(|| async { (server.fake.executions().len() > 3).then_some(()) }).await;
        assert_eq!(server.ended(&run).await, RunState::Succeeded, "{:?}", server.states(&run).await);
        server.assert_clean().await;
    }

    async fn a_trial_that_falls_behind_is_stopped_and_the_next_one_begins(server: Server) {
        let mut server = server;
        server.fake.script("tune", std::iter::repeat_n(Behaviour::Hold, 4));
        let doc = tuned(json!({
            "over": {"x": {"minimum": 2.9, "maximum": 3.1}}, "minimize": "loss", "trials": 4, "parallelism": 3,
            "early_stop": {"min_steps": 2}
        }));
        let run = server.run(&doc).await;
        let keys = server.running(&["tune", "tune", "tune"]).await;
        server.fake.measure(&trial(&keys, 0), loss(2.0, 0.2));
        server.fake.measure(&trial(&keys, 1), loss(1.0, 0.9));
        // After a restart the values of running trials come from them: they are read again.
        server.restart().await;
        server.fake.measure(&trial(&keys, 0), loss(2.0, 0.2));
        server.fake.measure(&trial(&keys, 1), loss(1.0, 0.9));
        server.fake.measure(&trial(&keys, 1), loss(2.0, 0.8));
        let stopped = server
            .until(|| async {
                let row = server.instance(&run, "tune", 1).await.unwrap();
                row.state.is_final().then_some(row)
            })
            .await;
        let why = "at step 2 its `loss` was 0.8; 1 of 2 trials were better";
        assert_eq!(stopped.state, InstanceState::StoppedEarly { why: why.into() });
        let keys = server.until(|| async {
            let keys = server.fake.running();
            keys.iter().any(|key| key.instance == 3).then_some(keys)
        }).await;
        for (instance, value) in [(0, 0.1), (2, 0.5), (3, 0.4)] {
            let report = Report { metrics: vec![loss(9.0, value)], ..Report::default() };
            server.fake.finish_with(&trial(&keys, instance), Outcome::Succeeded, report);
        }
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        let states = server.states(&run).await;
        assert_eq!(states, ["after.0=succeeded", "tune.0=succeeded", "tune.1=stopped_early", "tune.2=succeeded", "tune.3=succeeded"]);
        server.assert_clean().await;
    }

    async fn conditions_can_leave_every_trial_out(server: Server) {
        let mut server = server;
        let doc = tuned(json!({"over": {"x": {"minimum": 0, "maximum": 1}}, "minimize": "loss", "trials": 500}));
        let doc = doc.with(|doc| doc.tasks[0].when = Some("item.x > 7".into()));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!((state, server.states(&run).await.len()), (RunState::Succeeded, 501));
    }
}
