//! Stacks and preflight checks of workers on a real node.

use std::time::Duration;

use cubeloom_domain::executor::{Event, StopCause};
use cubeloom_domain::job::JobPreflight;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::preflight::Bounds;
use cubeloom_domain::quantity::Span;
use cubeloom_testkit::conformance::{Harness, Program};
use tokio::time::{Instant, sleep};

use super::harness::OnNode;

const PATIENCE: Duration = Duration::from_secs(60);

/// A Python program that enables stack dumps, as `import cubeloom` does, and hangs.
const HANGS: &str = r#"exec python3 -c '
import faulthandler, fcntl, os, time
faulthandler.register(16, file=2, all_threads=True, chain=False)
file = open(os.path.join(os.environ["HOME"], ".cubeloom-answers"), "wb")
fcntl.lockf(file, fcntl.LOCK_EX, 1, os.getpid())
print("ready", flush=True)
def where_it_hangs():
    time.sleep(600)
where_it_hangs()
'"#;

async fn on_node() -> OnNode {
    tokio::task::spawn_blocking(OnNode::new).await.unwrap()
}

async fn wait(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(200)).await;
    }
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_workers_of_a_pod_are_at_is_found_in_their_own_containers() {
    let node = on_node().await;
    let text = format!("[ $CUBELOOM_INDEX = 1 ] && {{ echo ready; exec sleep 600; }}\n{HANGS}");
    let submission = node.submission(&Program::shell(&text).workers(2));
    let key = submission.job.key.clone();
    node.executor().submit(submission).await;
    let begun = |worker: &str| node.log(&key, worker).contains("ready");
    wait("both to run", || begun("worker-0") && begun("worker-1")).await;
    // The logs may arrive before the cluster reports the pod as running.
    let began = Instant::now();
    let stacks = loop {
        let stacks = node.executor().stacks(&key).await;
        if stacks.len() == 2 {
            break stacks;
        }
        assert!(began.elapsed() < PATIENCE, "{stacks:?}");
        sleep(Duration::from_millis(200)).await;
    };
    let of = |worker: &str| stacks.iter().find(|stack| stack.worker == worker).unwrap().text.clone();
    assert!(of("worker-0").contains("python3") && of("worker-0").contains("in where_it_hangs"), "{stacks:?}");
    assert!(of("worker-1").contains(": sleep\n  thread "), "it is told what the kernel says: {stacks:?}");
    node.executor().cancel(&key, StopCause::Cancelled, Duration::from_millis(500)).await;
    node.recorder().ended(&key).await;
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
    // No network is measured between pods of one node, and the claim's folder is not tested.
    assert!(tested.workers.iter().all(|one| one.cpu.is_some()), "{:?}", tested.workers);
    assert!(node.log(&key, "worker-2").ends_with("ran\n"));
    let told = node.recorder().events(&key);
    assert!(told.len() > 1 && told.iter().filter(|event| matches!(event, Event::Tested(_))).count() <= 1);
}
