//! slurmrestd ends while a job runs and others are being submitted, and starts again: nothing is lost, nothing runs twice.

use std::time::{Duration, Instant};

use cubeloom_domain::clusters::Standing;
use cubeloom_domain::outcome::Outcome;
use cubeloom_testkit::conformance::{Harness, PATIENCE, Program, executions, signed, until_executed};

use super::weather::Held;
use crate::slurm::executor::OnSlurm;
use crate::slurm::rest::over_rest;

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slurmrestd_that_starts_again_loses_nothing_and_doubles_nothing() {
    let cluster = OnSlurm::with(over_rest);
    let running = cluster.submission(&Program::shell(&signed("sleep 8")).workers(2));
    let mut keys = vec![running.job.key.clone()];
    cluster.executor().submit(running).await;
    until_executed(&cluster, &keys[0], 2).await;
    for _ in 0..4 {
        let submission = cluster.submission(&Program::shell(&signed("")));
        keys.push(submission.job.key.clone());
        cluster.executor().submit(submission).await;
    }
    let held = tokio::task::spawn_blocking(|| Held::end("rest", "-KILL")).await.unwrap();
    let began = Instant::now();
    while !matches!(cluster.executor().standing(), Standing::Away { .. }) {
        assert!(began.elapsed() < PATIENCE, "nobody sees that slurmrestd is away");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let submission = cluster.submission(&Program::shell(&signed("")));
    keys.push(submission.job.key.clone());
    cluster.executor().submit(submission).await;
    // The first job ends meanwhile.
    tokio::time::sleep(Duration::from_secs(8)).await;
    for key in [&keys[0], &keys[5]] {
        assert_eq!(cluster.recorder().ends(key), 0, "{:?}", cluster.recorder().events(key));
    }
    tokio::task::spawn_blocking(|| drop(held)).await.unwrap();
    for (at, key) in keys.iter().enumerate() {
        assert_eq!(cluster.recorder().ended(key).await.outcome, Outcome::Succeeded, "job {at}");
        assert_eq!(executions(&cluster, key), if at == 0 { 2 } else { 1 }, "job {at}");
    }
    assert_eq!(cluster.executor().standing(), Standing::Connected);
}
