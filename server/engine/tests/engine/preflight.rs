//! Preflight tests of workers.

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::{Executor, Report};
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome, WorkerName};
use cubeloom_domain::preflight::{Blamed, Bounds, Measured, PreflightRule, PreflightUse, Tested};
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_testkit::builders::{PipelineBuilder, pipeline};
use cubeloom_testkit::fake::Behaviour;

use crate::fixture::Server;
use crate::on_both;

/// A gang of three with preflight tests, restarted at most once.
fn train() -> PipelineBuilder {
    let rule = PreflightRule { restarts: Some(1), wait: None };
    pipeline("p").task("train", |task| {
        let task = task.template("gang").argument("workers", 3);
        task.with(|task| task.preflight = Some(PreflightUse::Detailed(rule)))
    })
}

fn tested(network: f64, blamed: Option<Blamed>) -> Report {
    let worker =
        |n: u32| Measured { worker: format!("worker-{n}"), network: Some(network), ..Measured::default() };
    let tested = Tested { workers: (0..3).map(worker).collect(), blamed };
    Report { preflight: Some(Box::new(tested)), ..Report::default() }
}

/// Worker 1, on this node, fails its tests.
fn fails(server: &Server, key: &AttemptKey, node: &str, sure: bool) {
    let worker = Some(WorkerName { role: "worker".into(), index: 1 });
    let failure = Failure::new(FailureKind::Exit, "worker-1 ended with exit code 3");
    let failure = Failure { worker, node: Some(node.into()), ..failure };
    let blamed = Blamed { worker: "worker-1".into(), why: "its network is slow".into(), sure };
    server.fake.finish_with(key, Outcome::Failed(failure), tested(2.0, Some(blamed)));
}

fn nodes(server: &Server) -> Vec<String> {
    server.fake.facts().nodes.into_iter().map(|node| node.name).collect()
}

async fn running(server: &Server, n: u32) -> AttemptKey {
    server
        .until(|| async {
            let key = server.running(&["train"]).await.pop()?;
            (key.n == n).then_some(key)
        })
        .await
}

on_both! {
    async fn a_bad_node_is_set_aside_before_the_job_starts_anew(server: Server) {
        let mut server = server;
        server.with_nodes(&["a", "b", "c", "d", "e"]).await;
        server.fake.script("train", vec![Behaviour::Hold; 2]);
        let run = server.run(&train()).await;
        let key = running(&server, 1).await;
        fails(&server, &key, "b", true);
        let key = running(&server, 2).await;
        assert_eq!(nodes(&server), ["a", "c", "d", "e"], "at the first failure, and at once");
        server.fake.finish_with(&key, Outcome::Succeeded, tested(800.0, None));
        assert_eq!(server.ended(&run).await, RunState::Succeeded);
        let instance = server.instance(&run, "train", 0).await.unwrap();
        assert_eq!((instance.attempt, instance.tries), (2, 1), "the first was no try");
        let attempts = server.store.attempts(&run).await.unwrap();
        let blamed = |at: usize| attempts[at].preflight.as_ref().unwrap().tested.clone().unwrap().blamed;
        assert_eq!((blamed(0).unwrap().worker.as_str(), blamed(1)), ("worker-1", None));
        let aside = server.until(|| async { server.store.nodes_aside().await.unwrap().pop() }).await;
        let why = "an attempt failed because of it: worker-1 failed the pre-flight tests: its network is slow";
        assert_eq!((aside.of.node.as_str(), aside.why.sentence().as_str()), ("b", why));
    }

    async fn one_more_failure_than_it_may_have_is_the_jobs_also_over_a_restart_of_the_server(server: Server) {
        let mut server = server;
        server.with_nodes(&["a", "b", "c"]).await;
        server.fake.script("train", vec![Behaviour::Hold; 2]);
        let run = server.run(&train()).await;
        for n in 1..=2 {
            let key = running(&server, n).await;
            server.restart().await;
            fails(&server, &key, "b", false);
        }
        assert_eq!(server.ended(&run).await, RunState::Failed);
        let instance = server.instance(&run, "train", 0).await.unwrap();
        let InstanceState::Failed { failure } = instance.state else { panic!("{:?}", instance.state) };
        assert_eq!((failure.kind, instance.attempt), (FailureKind::Preflight, 2));
        assert_eq!(failure.message, "worker-1 failed the pre-flight tests: its network is slow");
        assert_eq!(nodes(&server), ["a", "b", "c"], "nobody can say that it is the node");
    }

    async fn later_attempts_are_measured_by_what_earlier_ones_came_to(server: Server) {
        let mut server = server;
        server.fake.script("train", vec![Behaviour::Hold; 7]);
        let mut bounds = Vec::new();
        for n in 0..7 {
            let run = server.run(&train()).await;
            let key = running(&server, 1).await;
            server.fake.finish_with(&key, Outcome::Succeeded, tested(800.0, None));
            assert_eq!(server.ended(&run).await, RunState::Succeeded, "{n}");
            let attempts = server.store.attempts(&run).await.unwrap();
            bounds.push(attempts[0].preflight.as_ref().unwrap().bounds.network);
        }
        let usual = Bounds::default().network;
        assert_eq!(bounds[..6], [usual; 6]);
        assert_eq!(bounds[6], 400.0, "half of the median of six attempts");
    }
}
