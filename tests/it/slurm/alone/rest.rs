//! slurmrestd stops while a job runs and others are being submitted, then starts again: no job is lost or run
//! twice.

use super::weather::starts_again;
use crate::slurm::executor::OnSlurm;
use crate::slurm::rest::over_rest;

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slurmrestd_that_starts_again_loses_nothing_and_doubles_nothing() {
    starts_again(&OnSlurm::with(over_rest), ("rest", "-KILL"), 8, 6).await;
}
