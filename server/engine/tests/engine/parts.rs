//! Partial runs: they begin with the results of upstream tasks from an earlier run, and with its files.

use std::fs;
use std::path::PathBuf;

use cubeloom_compiler::part::cut;
use cubeloom_domain::RunId;
use cubeloom_domain::plan::{Choice, PlannedPart};
use cubeloom_domain::record::{InstanceRecord, TakenOver, Wish};
use cubeloom_domain::state::{InstanceState, ReusedFrom, RunState};
use cubeloom_testkit::builders::{PipelineBuilder, outputs, pipeline};
use cubeloom_testkit::fake::Behaviour;
use serde_json::json;

use crate::fixture::Server;
use crate::on_both;

fn chain() -> PipelineBuilder {
    pipeline("p")
        .task("a", |task| task)
        .task("aside", |task| task)
        .task("b", |task| task.needs("a").for_each_from("tasks.a.outputs.items"))
        .task("c", |task| task.needs("b"))
}

/// Where a run's tasks share files.
fn folder(server: &Server, run: &RunId) -> PathBuf {
    server.folder.path().join("default/runs").join(run.as_str())
}

/// A complete run that has left a file.
async fn whole(server: &mut Server) -> RunId {
    let items = Behaviour::Outputs(outputs(json!({"items": [1, 2]})));
    server.fake.script("a", [items]);
    let (run, state) = server.run_to_end(&chain()).await;
    assert_eq!(state, RunState::Succeeded);
    let folder = folder(server, &run);
    fs::create_dir_all(folder.join("deep")).unwrap();
    fs::write(folder.join("deep/file"), "left by a").unwrap();
    run
}

/// Requests everything from `b` on, with the results of `a`.
async fn part(server: &mut Server, of: &RunId) -> RunId {
    let plan = server.plan(&chain());
    let mut part = cut(plan, &Choice::From("b".into())).unwrap();
    assert_eq!(part.plan.tasks.iter().map(|task| task.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    part.plan.part =
        Some(PlannedPart { choice: Choice::From("b".into()), of: Some(of.clone()), folder: true });
    let old = server.instance(of, "a", 0).await.unwrap();
    let reused = ReusedFrom { run: of.clone(), task: "a".into(), ended_at: old.ended_at.unwrap() };
    let taken = InstanceRecord {
        run: part.plan.context.id.clone(),
        task: part.taken[0],
        state: InstanceState::Succeeded { reused: Some(reused) },
        attempt: 0,
        tries: 0,
        ..old
    };
    server.run_with(&part.plan, &TakenOver { expansions: Vec::new(), instances: vec![taken] }).await
}

on_both! {
    async fn a_part_runs_with_the_outputs_and_files_of_an_earlier_run(server: Server) {
        let mut server = server;
        let first = whole(&mut server).await;
        let started = server.fake.started().len();
        let run = part(&mut server, &first).await;
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        assert_eq!(server.states(&run).await, ["a.0=reused", "b.0=succeeded", "b.1=succeeded", "c.0=succeeded"]);
        assert_eq!(server.fake.started().len(), started + 3, "what was taken over is not run");
        let copy = folder(&server, &run).join("deep/file");
        assert_eq!(fs::read_to_string(&copy).unwrap(), "left by a");
        fs::write(copy, "changed in place").unwrap();
        let original = folder(&server, &first).join("deep/file");
        assert_eq!(fs::read_to_string(original).unwrap(), "left by a");
        server.assert_clean().await;
    }

    async fn a_part_goes_on_after_restarts_at_any_moment(server: Server) {
        let mut server = server;
        let first = whole(&mut server).await;
        for n in 0..300 {
            fs::write(folder(&server, &first).join(format!("file-{n}")), "x".repeat(n)).unwrap();
        }
        let run = part(&mut server, &first).await;
        for moment in 0..40u64 {
            tokio::time::sleep(std::time::Duration::from_micros(moment * moment * 797 % 30_000)).await;
            server.restart().await;
        }
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        let count = |folder: PathBuf| fs::read_dir(folder).unwrap().count();
        assert_eq!(count(folder(&server, &run)), 301);
        server.until(|| async { (count(server.folder.path().join("default/runs")) == 2).then_some(()) }).await;
        server.assert_clean().await;
    }

    async fn a_part_whose_files_are_gone_fails_and_says_so(server: Server) {
        let mut server = server;
        let first = whole(&mut server).await;
        let folder = folder(&server, &first);
        fs::remove_dir_all(&folder).unwrap();
        let run = part(&mut server, &first).await;
        assert_eq!(server.ended(&run).await, RunState::Failed);
        let row = server.instance(&run, "b", 0).await.unwrap();
        let InstanceState::Failed { failure } = row.state else { panic!("{:?}", row.state) };
        assert!(failure.message.contains("no longer exists"), "{failure:?}");

        fs::create_dir_all(&folder).unwrap();
        server.wish(&run, Wish::Resume).await;
        server.until(|| async {
            (server.store.run(&run).await.unwrap().unwrap().state == RunState::Succeeded).then_some(())
        }).await;
        server.assert_clean().await;
    }
}
