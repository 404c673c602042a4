//! A job that Slurm accepts but can never start.

use std::time::{Duration, Instant};

use cubeloom_domain::Span;
use cubeloom_domain::outcome::Outcome;
use cubeloom_testkit::conformance::{Harness, PATIENCE, Program, signed};

use crate::slurm::executor::OnSlurm;
use crate::slurm::harness::slurm;

/// Limits the partition of all nodes to one-minute jobs. Dropping this removes the limit.
struct Short;

impl Short {
    fn new() -> Self {
        slurm(&["scontrol", "update", "PartitionName=all", "MaxTime=1"]);
        Self
    }
}

impl Drop for Short {
    fn drop(&mut self) {
        slurm(&["scontrol", "update", "PartitionName=all", "MaxTime=INFINITE"]);
    }
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_its_partition_never_starts_is_told_so() {
    let server = OnSlurm::new();
    let short = Short::new();
    let mut job = server.job(&Program::shell(&signed("true")));
    job.timeout = Some(Span(Duration::from_secs(180)));
    let key = job.key.clone();
    server.executor().submit(server.submission_of(job)).await;
    let began = Instant::now();
    loop {
        let told = server.executor().notices(&key).await;
        if told.iter().any(|one| one.warning && one.message.contains("more time than its partition allows")) {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{told:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    drop(short);
    assert_eq!(server.recorder().ended(&key).await.outcome, Outcome::Succeeded);
}
