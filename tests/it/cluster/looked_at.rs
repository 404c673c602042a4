//! How workers on a real node are tested before their program begins.

use std::time::Duration;

use cubeloom_domain::executor::Event;
use cubeloom_domain::job::JobPreflight;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::preflight::Bounds;
use cubeloom_domain::quantity::Span;
use cubeloom_testkit::conformance::{Harness, Program};

use super::harness::OnNode;

async fn on_node() -> OnNode {
    tokio::task::spawn_blocking(OnNode::new).await.unwrap()
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_test_each_other_before_their_program_begins() {
    let node = on_node().await;
    let mut job = node.job(&Program::shell("echo ran").workers(3));
    let wait = Span(Duration::from_secs(60));
    job.preflight = Some(JobPreflight { wait, bounds: Bounds::default() });
    let key = job.key.clone();
    node.executor().submit(node.submission_of(job)).await;
    let ended = node.recorder().ended(&key).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{}", node.log(&key, "worker-0"));
    let tested = ended.report.preflight.expect("a test");
    assert_eq!((tested.workers.len(), tested.blamed), (3, None));
    // Between pods of one node no network is measured, and there may be one node; the claim's folder is not theirs.
    assert!(tested.workers.iter().all(|one| one.cpu.is_some()), "{:?}", tested.workers);
    assert!(node.log(&key, "worker-2").ends_with("ran\n"));
    let told = node.recorder().events(&key);
    assert!(told.len() > 1 && told.iter().filter(|event| matches!(event, Event::Tested(_))).count() <= 1);
}
