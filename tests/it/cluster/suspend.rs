//! Jobs that are suspended and resumed, each in its operator's way: their pods go, that is not mistaken for
//! an end, and later output continues the same logs.

use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::logs::{LogName, LogStream};
use cubeloom_domain::outcome::{Outcome, WorkerName};
use cubeloom_testkit::conformance::{Harness, Program, executions, signed};
use tokio::time::{sleep, timeout};

use super::harness::OnNode;

/// How long pods may take to go, and operators to react.
const PATIENCE: Duration = Duration::from_secs(60);

/// Every worker waits forever, unless it starts for the second time.
fn patient(workers: usize) -> String {
    signed(&format!("echo begun; if [ $(wc -l <$LEDGER) -le {workers} ]; then exec sleep 600; fi"))
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let look = async {
        while !holds() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, look).await.unwrap_or_else(|_| panic!("not in time: {what}"));
}

async fn log(node: &OnNode, key: &AttemptKey, role: &str) -> String {
    let executor = node.executor();
    let name = LogName { worker: WorkerName { role: role.into(), index: 0 }, stream: LogStream::Stdout };
    let piece = executor.logs().unwrap().read(key, &name, 0, 1 << 16).await.unwrap();
    String::from_utf8(piece.bytes).unwrap()
}

async fn is_suspended_and_goes_on(framework: &str, program: Program, workers: usize) {
    let mut node = tokio::task::spawn_blocking(OnNode::new).await.unwrap();
    let mut job = node.job(&program);
    job.framework = framework.into();
    let role = job.roles[0].name.clone();
    let submission = node.submission_of(job);
    let key = submission.job.key.clone();
    let executor = node.executor();
    executor.submit(submission.clone()).await;
    node.recorder().started(&key).await;
    until("every worker has begun", || executions(&node, &key) == workers).await;
    assert_eq!(executor.suspended(&key), Some(false));
    executor.suspend(&key, true).await.unwrap();
    until("its workers are gone", || node.alive(&key) == 0 && node.executor().suspended(&key) == Some(true))
        .await;
    // Longer than it takes to report a failure.
    sleep(Duration::from_secs(4)).await;
    assert_eq!(node.recorder().ends(&key), 0, "to be suspended is no end");
    // The next server finds the job suspended.
    drop(executor);
    let node = tokio::task::spawn_blocking(move || {
        node.crash();
        node
    })
    .await
    .unwrap();
    let executor = node.executor();
    executor.adopt(submission).await;
    until("the next server knows it", || node.executor().suspended(&key) == Some(true)).await;
    executor.suspend(&key, false).await.unwrap();
    let ended = node.recorder().ended(&key).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{ended:?}");
    assert_eq!(executions(&node, &key), 2 * workers);
    assert_eq!(log(&node, &key, &role).await.matches("begun").count(), 2);
    assert_eq!(executor.suspended(&key), None, "what has ended cannot be");
    assert!(executor.suspend(&AttemptKey { n: 9, ..key }, true).await.is_err());
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_is_suspended_and_goes_on() {
    is_suspended_and_goes_on("single", Program::shell(&patient(1)), 1).await;
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volcano_job_is_suspended_and_goes_on() {
    is_suspended_and_goes_on("indexed", Program::shell(&patient(2)).workers(2), 2).await;
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pytorchjob_is_suspended_and_goes_on() {
    is_suspended_and_goes_on("pytorch", Program::shell(&patient(2)).master_and(1), 2).await;
}
