//! Concurrency limits that tasks name: maximum at once, and starts per minute, across all clusters.

use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::RunId;
use cubeloom_domain::limit::Limit;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_domain::waiting::WaitRule;
use cubeloom_store::Change;
use cubeloom_testkit::builders::{PipelineBuilder, pipeline};
use cubeloom_testkit::fake::{Behaviour, FakeExecutor};

use crate::fixture::Server;
use crate::on_both;
use crate::sharing::{entry, make_project, named, why};

async fn set_limit(server: &Server, name: &str, at_once: Option<u32>, a_minute: Option<u32>) {
    let limit = Limit { name: name.into(), at_once, a_minute, description: None, revision: 0 };
    let change = server.store.put_limit(&limit, None, &entry("limit.set")).await.unwrap();
    assert!(matches!(change, Change::Done(_)), "{change:?}");
}

/// A pipeline of tasks `prefix-0`, `prefix-1`, ... that name a limit and run until they are asked to end.
fn pulls(fakes: &[&FakeExecutor], prefix: &str, count: usize, limit: &str) -> PipelineBuilder {
    (0..count).fold(pipeline(prefix), |doc, at| {
        let name = format!("{prefix}-{at}");
        fakes.iter().for_each(|fake| fake.script(&name, [Behaviour::Hold]));
        doc.task(&name, |task| task.resources("100m", "16Mi").with(|task| task.limits = vec![limit.into()]))
    })
}

/// Waits until this many jobs run, and verifies that it stays that way.
async fn settled(server: &Server, count: usize) -> Vec<AttemptKey> {
    server.until(|| async { (server.fake.running().len() == count).then_some(()) }).await;
    server.passes().await;
    let running = server.fake.running();
    assert_eq!(running.len(), count, "{running:?}");
    running
}

async fn waiting(server: &Server, run: &RunId) -> Vec<String> {
    let states = server.states(run).await;
    let names = states.iter().filter_map(|state| state.strip_suffix(".0=waiting"));
    names.map(str::to_owned).collect()
}

on_both! {
    async fn seven_of_ten_pulls_run_and_the_others_say_who_holds_the_limit(server: Server) {
        let mut server = server;
        set_limit(&server, "hdfs-prod", Some(7), None).await;
        let doc = pulls(&[&server.fake], "pull", 10, "hdfs-prod");
        let run = server.run(&doc).await;
        let mut running = settled(&server, 7).await;
        let waits = waiting(&server, &run).await;
        assert_eq!(waits.len(), 3, "{waits:?}");
        for task in &waits {
            let (message, why) = why(&server, &run, task).await;
            assert_eq!(message, "the concurrency limit `hdfs-prod` is reached: 7 of 7 are in use");
            assert_eq!((why.rule, why.named.as_deref()), (WaitRule::NamedLimit, Some("hdfs-prod")));
            let holders = named(&why);
            assert!(!holders.is_empty() && holders.iter().all(|key| running.contains(key)), "{holders:?}");
        }
        // The named holders are the reason: as soon as one ends, the next starts, and no other.
        let (_, first) = why(&server, &run, &waits[0]).await;
        let ends = named(&first);
        assert_eq!(ends.len(), 1);
        server.fake.finish(&ends[0], Outcome::Succeeded);
        server.until(|| async { server.fake.running().iter().any(|key| key.task == waits[0]).then_some(()) }).await;
        running = settled(&server, 7).await;
        while !running.is_empty() {
            server.fake.finish(&running[0], Outcome::Succeeded);
            let left = 10 - server.fake.started().len();
            running = settled(&server, running.len() - usize::from(left == 0)).await;
            assert!(running.len() <= 7);
        }
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        server.assert_clean().await;
    }

    async fn three_gangs_hold_a_limit_once_each(server: Server) {
        let mut server = server;
        set_limit(&server, "fabric", Some(2), None).await;
        let doc = (0..3).fold(pipeline("train"), |doc, at| {
            let name = format!("gang-{at}");
            server.fake.script(&name, [Behaviour::Hold]);
            doc.task(&name, |task| {
                task.template("gang").argument("workers", 4).with(|task| task.limits = vec!["fabric".into()])
            })
        });
        let run = server.run(&doc).await;
        let running = settled(&server, 2).await;
        let waits = waiting(&server, &run).await;
        assert_eq!(waits.len(), 1);
        assert_eq!(why(&server, &run, &waits[0]).await.1.rule, WaitRule::NamedLimit);
        server.fake.finish(&running[0], Outcome::Succeeded);
        for key in settled(&server, 2).await {
            server.fake.finish(&key, Outcome::Succeeded);
        }
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        server.assert_clean().await;
    }

    async fn seven_pipelines_pull_at_one_moment_and_three_gangs_come_after(server: Server) {
        let mut server = server;
        set_limit(&server, "hdfs-prod", Some(4), None).await;
        make_project(&server, "guest").await;
        let mut runs = Vec::new();
        for at in 0..7 {
            let pull = format!("pull-{at}");
            let mut doc = pulls(&[&server.fake], &pull, 1, "hdfs-prod");
            if at < 3 {
                let train = format!("train-{at}");
                server.fake.script(&train, [Behaviour::Hold]);
                // Three of the four CPUs: one fits at a time.
                doc = doc.task(&train, |task| {
                    let gang = task.template("gang").argument("workers", 3).resources("1", "16Mi");
                    gang.needs(&format!("{pull}-0"))
                });
            }
            let mut plan = server.plan(&doc);
            plan.context.project = if at % 2 == 0 { "default" } else { "guest" }.into();
            runs.push(server.run_plan(&plan).await);
        }
        // When one ends the next begins, on any cluster, and never a fifth. Those that trainings depend on
        // end last.
        for left in (0..7_usize).rev() {
            let pulling = settled(&server, (left + 1).min(4)).await;
            assert!(pulling.iter().all(|key| key.task.starts_with("pull")), "{pulling:?}");
            for (at, run) in runs.iter().enumerate() {
                let pull = format!("pull-{at}-0");
                if waiting(&server, run).await.contains(&pull) {
                    assert_eq!(why(&server, run, &pull).await.1.rule, WaitRule::NamedLimit);
                }
            }
            if left < 3 {
                pulling.iter().for_each(|pull| server.fake.finish(pull, Outcome::Succeeded));
                break;
            }
            let last = pulling.iter().max_by_key(|key| key.task.clone()).unwrap();
            server.fake.finish(last, Outcome::Succeeded);
        }
        // The gangs hold no limit: they wait for capacity, and run one after the other, each complete.
        for left in (0..3_usize).rev() {
            let training = settled(&server, 1).await.remove(0);
            let at = runs.iter().position(|run| *run == training.run).unwrap();
            assert_eq!(training.task, format!("train-{at}"));
            let mut waits = 0;
            for (at, run) in runs.iter().enumerate().take(3) {
                let train = format!("train-{at}");
                if waiting(&server, run).await.contains(&train) {
                    let (message, why) = why(&server, run, &train).await;
                    assert!(matches!(why.rule, WaitRule::Capacity | WaitRule::Behind), "{message}");
                    waits += 1;
                }
            }
            assert_eq!(waits, left);
            server.fake.finish(&training, Outcome::Succeeded);
        }
        for run in &runs {
            assert_eq!(server.ended(run).await, RunState::Succeeded);
        }
        assert_eq!(server.fake.started().len(), 10);
        server.assert_clean().await;
    }

    async fn what_waits_follows_a_limit_that_is_changed_and_deleted(server: Server) {
        let mut server = server;
        set_limit(&server, "hdfs-prod", Some(2), None).await;
        let doc = pulls(&[&server.fake], "pull", 6, "hdfs-prod");
        let run = server.run(&doc).await;
        settled(&server, 2).await;
        set_limit(&server, "hdfs-prod", Some(4), None).await;
        settled(&server, 4).await;
        set_limit(&server, "hdfs-prod", Some(0), None).await;
        let task = &waiting(&server, &run).await[0];
        server.until(|| async {
            let (message, _) = why(&server, &run, task).await;
            (message == "the concurrency limit `hdfs-prod` is reached: 4 of 0 are in use").then_some(())
        }).await;
        let deleted = server.store.delete_limit("hdfs-prod", None, &entry("limit.delete")).await.unwrap();
        assert_eq!(deleted, Change::Done(4));
        for key in settled(&server, 6).await {
            server.fake.finish(&key, Outcome::Succeeded);
        }
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
    }

    async fn so_many_start_in_a_minute_also_when_the_server_does(server: Server) {
        let mut server = server;
        set_limit(&server, "api", None, Some(3)).await;
        // They end at once: the starts count.
        let doc = (0..5).fold(pipeline("calls"), |doc, at| {
            doc.task(&format!("call-{at}"), |task| task.with(|task| task.limits = vec!["api".into()]))
        });
        let run = server.run(&doc).await;
        let started = |count: usize| {
            let fake = std::sync::Arc::clone(&server.fake);
            move || {
                let done = (fake.started().len() == count).then_some(());
                async move { done }
            }
        };
        server.until(started(3)).await;
        let task = &waiting(&server, &run).await[0];
        let (message, _) = why(&server, &run, task).await;
        assert_eq!(message, "the concurrency limit `api` is reached: 3 jobs may start per minute");
        server.clock.advance(Duration::from_secs(40));
        server.restart().await;
        server.passes().await;
        assert_eq!(server.fake.started().len(), 3, "those before the restart count");
        server.clock.advance(Duration::from_secs(21));
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        assert_eq!(server.fake.started().len(), 5);
    }

    async fn a_limit_holds_on_all_clusters_together(server: Server) {
        let mut server = server;
        let far = server.join_far().await;
        set_limit(&server, "hdfs-prod", Some(2), None).await;
        let mut there = server.plan(&pulls(&[&far], "there", 2, "hdfs-prod"));
        there.cluster = "far".into();
        let away = server.run_plan(&there).await;
        server.until(|| async { (far.running().len() == 2).then_some(()) }).await;
        let doc = pulls(&[&server.fake], "here", 1, "hdfs-prod");
        let run = server.run(&doc).await;
        let (message, first) = why(&server, &run, "here-0").await;
        assert_eq!(message, "the concurrency limit `hdfs-prod` is reached: 2 of 2 are in use");
        let holders = named(&first);
        assert!(holders.len() == 1 && far.running().contains(&holders[0]), "{holders:?}");
        // After a restart the other cluster's jobs are known again before anything starts.
        server.restart().await;
        settled(&server, 0).await;
        far.finish(&holders[0], Outcome::Succeeded);
        let here = settled(&server, 1).await;
        server.fake.finish(&here[0], Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        let rest = far.running();
        assert_eq!(rest.len(), 1);
        far.finish(&rest[0], Outcome::Succeeded);
        assert_eq!(server.ended(&away).await, RunState::Succeeded);
        server.assert_clean().await;
    }

    async fn what_another_server_runs_with_a_limit_counts(server: Server) {
        let mut server = server;
        set_limit(&server, "hdfs-prod", Some(1), None).await;
        let doc = pulls(&[&server.fake], "theirs", 1, "hdfs-prod");
        let theirs = server.run(&doc).await;
        settled(&server, 1).await;
        server.lose_lease(&theirs).await;
        server.clock.advance(Duration::from_secs(11));
        let doc = pulls(&[&server.fake], "ours", 1, "hdfs-prod");
        let ours = server.run(&doc).await;
        let (_, why) = why(&server, &ours, "ours-0").await;
        assert_eq!(why.rule, WaitRule::NamedLimit);
        assert_eq!(named(&why)[0].run, theirs);
        settled(&server, 1).await;
    }

    async fn a_limit_that_is_not_there_holds_nothing_back(server: Server) {
        let mut server = server;
        let doc = pulls(&[&server.fake], "pull", 4, "nobody-made-it");
        let run = server.run(&doc).await;
        settled(&server, 4).await;
        // Once the limit is created, jobs that already name it count.
        set_limit(&server, "nobody-made-it", Some(4), None).await;
        let more = pulls(&[&server.fake], "more", 1, "nobody-made-it");
        let more = server.run(&more).await;
        assert_eq!(why(&server, &more, "more-0").await.1.rule, WaitRule::NamedLimit);
        for key in server.fake.running() {
            server.fake.finish(&key, Outcome::Succeeded);
        }
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        let has_started = |state: &InstanceState| *state == InstanceState::ACTIVE;
        server.instance_until(&more, "more-0", has_started).await;
    }
}
