//! Commands for a run: cancel, resume, rerun from a task.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cubeloom_compiler::Outputs;
use cubeloom_domain::TaskIx;
use cubeloom_domain::executor::{Executor, Submission};
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::record::Wish;
use cubeloom_domain::state::RunState;
use cubeloom_testkit::builders::{outputs, pipeline};
use cubeloom_testkit::fake::Behaviour;
use serde_json::json;

use crate::fixture::Server;
use crate::on_both;

on_both! {
    async fn a_cancelled_run_stops_what_runs_and_starts_nothing(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        let doc = pipeline("p").task("a", |task| task).task("b", |task| task.needs("a"));
        let run = server.run(&doc).await;
        server.running(&["a"]).await;
        server.wish(&run, Wish::Cancel).await;
        assert_eq!(server.ended(&run).await, RunState::Cancelled);
        assert_eq!(server.states(&run).await, ["a.0=cancelled"]);

        server.wish(&run, Wish::Resume).await;
        server.until(|| async {
            let record = server.store.run(&run).await.unwrap().unwrap();
            (record.state == RunState::Succeeded).then_some(())
        }).await;
        assert_eq!(server.states(&run).await, ["a.0=succeeded", "b.0=succeeded"]);
        server.assert_clean().await;
    }

    async fn a_resumed_run_keeps_what_succeeded(server: Server) {
        let mut server = server;
        server.fake.script("each", [
            Behaviour::Outputs(outputs(json!({"n": 1}))),
            Behaviour::Fail(FailureKind::Exit),
            Behaviour::Outputs(outputs(json!({"n": 3}))),
        ]);
        let doc = pipeline("p")
            .task("first", |task| task)
            .task("each", |task| task.needs("first").for_each(json!(["x", "y", "z"])))
            .task("after", |task| task.needs("each"));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Failed);
        let started = server.fake.started().len();
        server.wish(&run, Wish::Resume).await;
        server.until(|| async {
            (server.store.run(&run).await.unwrap().unwrap().state == RunState::Succeeded).then_some(())
        }).await;
        let again: Vec<String> = server.fake.started()[started..].iter().map(|key| format!("{}.{}", key.task, key.n)).collect();
        assert_eq!(again, ["each.2", "after.1"]);
        server.assert_clean().await;
    }

    async fn a_run_is_run_again_from_a_task(server: Server) {
        let mut server = server;
        let doc = pipeline("p")
            .task("a", |task| task)
            .task("b", |task| task.needs("a"))
            .task("c", |task| task.needs("b"))
            .task("aside", |task| task.needs("a"));
        let (run, _) = server.run_to_end(&doc).await;
        let started = server.fake.started().len();
        server.wish(&run, Wish::Rerun { from: vec!["b".into()] }).await;
        server.until(|| async { (server.fake.started().len() == started + 2).then_some(()) }).await;
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        let again: Vec<String> = server.fake.started()[started..].iter().map(|key| format!("{}.{}", key.task, key.n)).collect();
        assert_eq!(again, ["b.2", "c.2"]);
        server.assert_clean().await;
    }

    async fn an_expansion_that_grows_again_gives_no_number_twice(server: Server) {
        let mut server = server;
        let list = |items: serde_json::Value| Behaviour::Outputs(outputs(json!({"items": items})));
        server.fake.script("list", [list(json!([1, 2, 3])), list(json!([1])), list(json!([1, 2, 3]))]);
        let doc = pipeline("p")
            .task("list", |task| task)
            .task("each", |task| task.needs("list").for_each_from("tasks.list.outputs.items"));
        let (run, _) = server.run_to_end(&doc).await;
        for started in [6, 10] {
            server.wish(&run, Wish::Rerun { from: vec!["list".into()] }).await;
            server.until(|| async { (server.fake.started().len() == started).then_some(()) }).await;
            assert_eq!(server.ended(&run).await, RunState::Succeeded);
        }
        let mut numbers: Vec<_> = server.fake.started()[7..].iter().map(|key| (key.instance, key.n)).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [(0, 3), (1, 2), (2, 2)]);
        server.assert_clean().await;
    }

    async fn a_run_that_is_cancelled_and_resumed_at_once_goes_on(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        server.crash().await;
        let doc = pipeline("p").task("a", |task| task.resources("3", "1Gi"));
        let run = server.run(&doc).await;
        server.wish(&run, Wish::Cancel).await;
        server.wish(&run, Wish::Resume).await;
        server.restart().await;
        let keys = server.running(&["a"]).await;
        server.passes().await;
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        let (_, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Succeeded, "what the first run held is free again");
        server.assert_clean().await;
    }

    async fn a_resumed_run_waits_for_the_active_one_of_its_pipeline(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Fail(FailureKind::Exit), Behaviour::Hold]);
        let doc = pipeline("p").with(|pipeline| pipeline.max_active_runs = Some(1)).task("a", |task| task);
        let (first, _) = server.run_to_end(&doc).await;
        let second = server.run(&doc).await;
        let keys = server.running(&["a"]).await;
        server.wish(&first, Wish::Resume).await;
        server.until(|| async {
            (server.store.run(&first).await.unwrap().unwrap().state == RunState::Queued).then_some(())
        }).await;
        server.passes().await;
        assert_eq!(server.fake.started().len(), 2);
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&second).await, RunState::Succeeded);
        assert_eq!(server.ended(&first).await, RunState::Succeeded);
        server.assert_clean().await;
    }

    async fn reports_that_never_cease_do_not_hide_what_is_wanted(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        let doc = pipeline("p").task("a", |task| task);
        let run = server.run(&doc).await;
        server.running(&["a"]).await;
        let plan = server.plan(&doc);
        let job = cubeloom_compiler::job(&plan, TaskIx(0), 0, None, 1, None, &Outputs::default()).unwrap();
        let lowered = Arc::new(cubeloom_compiler::lower::lower(&job, &Bindings::None).unwrap());
        let unknown = Submission { job: Arc::new(job), lowered };
        let (fake, enough) = (Arc::clone(&server.fake), Arc::new(AtomicBool::new(false)));
        let (handle, stop) = (tokio::runtime::Handle::current(), Arc::clone(&enough));
        let flood = std::thread::spawn(move || {
            handle.block_on(async {
                for _ in 0..3_000_000 {
                    fake.adopt(unknown.clone()).await;
                    if stop.load(Ordering::Relaxed) {
                        return true;
                    }
                }
                false
            })
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        server.wish(&run, Wish::Cancel).await;
        assert_eq!(server.ended(&run).await, RunState::Cancelled);
        enough.store(true, Ordering::Relaxed);
        assert!(flood.join().unwrap(), "the run ended only when the reports did");
    }

    async fn an_expansion_that_shrinks_leaves_nothing_behind(server: Server) {
        let mut server = server;
        let list = |items: serde_json::Value| Behaviour::Outputs(outputs(json!({"items": items})));
        server.fake.script("list", [list(json!([1, 2, 3])), list(json!([1]))]);
        let doc = pipeline("p")
            .task("list", |task| task)
            .task("each", |task| task.needs("list").for_each_from("tasks.list.outputs.items"));
        let (run, _) = server.run_to_end(&doc).await;
        server.wish(&run, Wish::Rerun { from: vec!["list".into()] }).await;
        server.until(|| async { (server.fake.started().len() == 6).then_some(()) }).await;
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        server.restart().await;
        server.fake.script("each", [Behaviour::Hold]);
        server.wish(&run, Wish::Rerun { from: vec!["each".into()] }).await;
        let keys = server.running(&["each"]).await;
        assert_eq!((keys[0].instance, keys[0].n), (0, 3));
        server.fake.finish(&keys[0], Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        server.assert_clean().await;
    }
}
