//! Outcomes that users set: for instances that failed, run, are pending or have not begun, in active and in
//! finished runs.

use cubeloom_domain::RunId;
use cubeloom_domain::mark::{Mark, MarkedAs};
use cubeloom_domain::outcome::FailureKind;
use cubeloom_domain::pipeline::ForEach;
use cubeloom_domain::record::Wish;
use cubeloom_domain::state::RunState;
use cubeloom_testkit::builders::{outputs, pipeline};
use cubeloom_testkit::fake::Behaviour;
use serde_json::json;

use crate::fixture::Server;
use crate::on_both;

fn mark(task: &str, marked_as: MarkedAs) -> Wish {
    let mark =
        Mark { marked_as, by: "ada".into(), reason: "seen by eye".into(), outputs: Default::default() };
    Wish::Mark { task: task.into(), instance: 0, mark }
}

/// Waits until a run has this state.
async fn until(server: &mut Server, run: &RunId, state: RunState) {
    server
        .until(|| async { (server.store.run(run).await.unwrap().unwrap().state == state).then_some(()) })
        .await;
}

on_both! {
    async fn a_run_that_failed_goes_on_with_what_was_passed_over(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Fail(FailureKind::Exit)]);
        server.fake.script("x", [Behaviour::Fail(FailureKind::Exit)]);
        let doc = pipeline("p")
            .task("a", |task| task)
            .task("b", |task| task.needs("a"))
            .task("c", |task| task.needs("b"))
            .task("x", |task| task)
            .task("y", |task| task.needs("x"));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Failed);
        server.wish(&run, mark("a", MarkedAs::Succeeded)).await;
        server.until(|| async {
            server.states(&run).await.contains(&"c.0=succeeded".to_owned()).then_some(())
        }).await;
        assert_eq!(server.ended(&run).await, RunState::Failed, "something else failed as well");
        let states = server.states(&run).await;
        assert_eq!(states, ["a.0=succeeded", "b.0=succeeded", "c.0=succeeded", "x.0=failed", "y.0=upstream_failed"]);
        let note = server.instance(&run, "a", 0).await.unwrap().note;
        assert_eq!(note.as_deref(), Some("marked as succeeded by ada: seen by eye"));
        server.wish(&run, mark("x", MarkedAs::Skipped)).await;
        until(&mut server, &run, RunState::Succeeded).await;
        assert_eq!(server.states(&run).await[3..], ["x.0=skipped", "y.0=skipped"]);
        server.assert_clean().await;
    }

    async fn in_a_run_that_goes_on_what_was_passed_over_runs(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Fail(FailureKind::Exit)]);
        server.fake.script("long", [Behaviour::Hold]);
        let doc = pipeline("p")
            .task("a", |task| task)
            .task("b", |task| task.needs("a"))
            .task("c", |task| task.needs("b").needs("long"))
            .task("long", |task| task);
        let run = server.run(&doc).await;
        let key = server.running(&["long"]).await.remove(0);
        server.until(|| async {
            server.states(&run).await.contains(&"b.0=upstream_failed".to_owned()).then_some(())
        }).await;
        server.wish(&run, mark("a", MarkedAs::Succeeded)).await;
        server.until(|| async { server.states(&run).await.contains(&"b.0=succeeded".to_owned()).then_some(()) }).await;
        server.fake.finish(&key, cubeloom_domain::outcome::Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        assert!(server.states(&run).await.iter().all(|state| state.ends_with("=succeeded")));
        server.assert_clean().await;
    }

    async fn what_runs_is_stopped_and_counts_as_it_is_marked_also_after_a_restart(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        let doc = pipeline("p").task("a", |task| task).task("b", |task| task.needs("a"));
        let run = server.run(&doc).await;
        server.running(&["a"]).await;
        server.wish(&run, mark("a", MarkedAs::Succeeded)).await;
        server.restart().await;
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        assert_eq!(server.states(&run).await, ["a.0=succeeded", "b.0=succeeded"]);
        let attempts = server.store.attempts(&run).await.unwrap();
        assert_eq!(attempts.len(), 2, "it was not tried again: {attempts:?}");
        server.assert_clean().await;
    }

    async fn what_waits_or_has_not_begun_need_not_run(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Hold]);
        let doc = pipeline("p")
            .task("a", |task| task.resources("1", "8Gi"))
            .task("waits", |task| task.resources("1", "8Gi"))
            .task("later", |task| task.needs("a"))
            .task("last", |task| task.needs("later"));
        let run = server.run(&doc).await;
        let key = server.running(&["a"]).await.remove(0);
        server.wish(&run, mark("waits", MarkedAs::Skipped)).await;
        server.wish(&run, mark("later", MarkedAs::Failed)).await;
        server.until(|| async {
            server.states(&run).await.contains(&"last.0=upstream_failed".to_owned()).then_some(())
        }).await;
        server.fake.finish(&key, cubeloom_domain::outcome::Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Failed);
        let states = server.states(&run).await;
        assert_eq!(states, ["a.0=succeeded", "last.0=upstream_failed", "later.0=failed", "waits.0=skipped"]);
        assert_eq!(server.fake.started().len(), 1);
        server.assert_clean().await;
    }

    async fn a_later_task_sees_how_others_ended(server: Server) {
        use cubeloom_domain::pipeline::TriggerRule::AllDone;
        let mut server = server;
        server.fake.script("a", [Behaviour::Fail(FailureKind::Exit)]);
        let when = |text: &str| text.to_owned();
        let doc = pipeline("p")
            .task("a", |task| task)
            .task("b", |task| task.needs("a"))
            .task("c", |task| task)
            .task("clean", |task| task.needs("a").needs("b").needs("c").trigger(AllDone).with(|task| {
                task.when = Some(when("tasks.a.state == 'failed' and tasks.b.state == 'upstream_failed' and tasks.c.state == 'succeeded'"));
            }))
            .task("cheer", |task| task.needs("a").trigger(AllDone).with(|task| {
                task.when = Some(when("tasks.a.state == 'succeeded'"));
            }));
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Failed);
        let states = server.states(&run).await;
        assert_eq!(states, ["a.0=failed", "b.0=upstream_failed", "c.0=succeeded", "cheer.0=skipped", "clean.0=succeeded"]);
        server.assert_clean().await;
    }

    async fn who_stands_in_the_line_of_a_task_leaves_it_and_lets_nobody_in(server: Server) {
        let mut server = server;
        server.fake.script("each", [Behaviour::Hold]);
        let items = ForEach { list: Some(json!([1, 2, 3, 4])), matrix: None, from: None, parallelism: Some(1) };
        let doc = pipeline("p").task("each", |task| task.with(|task| task.for_each = Some(Box::new(items))));
        let run = server.run(&doc).await;
        let key = server.running(&["each"]).await.remove(0);
        let Wish::Mark { task, mark, .. } = mark("each", MarkedAs::Skipped) else { unreachable!() };
        server.wish(&run, Wish::Mark { task, instance: 2, mark }).await;
        server.until(|| async { server.states(&run).await.contains(&"each.2=skipped".to_owned()).then_some(()) }).await;
        assert_eq!(server.fake.started().len(), 1, "one at a time");
        server.fake.finish(&key, cubeloom_domain::outcome::Outcome::Succeeded);
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        assert_eq!(server.fake.started().len(), 3);
        server.assert_clean().await;
    }

    async fn later_tasks_read_the_outputs_that_come_with_a_mark(server: Server) {
        let mut server = server;
        server.fake.script("a", [Behaviour::Fail(FailureKind::Exit)]);
        let doc = pipeline("p").task("a", |task| task).task("b", |task| {
            task.needs("a").argument("words", json!(["{{ tasks.a.outputs.n }}"]))
        });
        let (run, state) = server.run_to_end(&doc).await;
        assert_eq!(state, RunState::Failed);
        let Wish::Mark { task, instance, mark } = mark("a", MarkedAs::Succeeded) else { unreachable!() };
        let mark = Mark { outputs: outputs(json!({"n": 7})), ..mark };
        server.wish(&run, Wish::Mark { task, instance, mark }).await;
        until(&mut server, &run, RunState::Succeeded).await;
        assert_eq!(server.states(&run).await, ["a.0=succeeded", "b.0=succeeded"]);
        server.assert_clean().await;
    }
}
