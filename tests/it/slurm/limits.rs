//! Limits that end a job or reject it: its memory, Slurm's time limit, a full queue. Slurm words these
//! differently in its commands and over slurmrestd.

use std::time::{Duration, Instant};

use cubeloom_domain::executor::StopCause;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::{AttemptKey, Bytes, Span};
use cubeloom_executor_slurm::SlurmConfig;
use cubeloom_testkit::conformance::{
    Harness, PATIENCE, Program, assert_gone, executions, failure, random, run, signed, until_executed,
};

use super::executor::{OnSlurm, ended_late};
use super::harness::{slurm, told};
use super::rest::over_rest;
use super::single::HUNGRY;

/// One of a person's two jobs runs; the other is pending with this Slurm reason.
pub async fn one_waits(server: &OnSlurm, word: &str) -> [AttemptKey; 2] {
    let submissions = ["sleep 600", "true"].map(|rest| server.submission(&Program::shell(&signed(rest))));
    let keys = submissions.clone().map(|one| one.job.key.clone());
    let [first, second] = submissions;
    server.executor().submit(first).await;
    until_executed(server, &keys[0], 1).await;
    server.executor().submit(second).await;
    let began = Instant::now();
    loop {
        let told = server.executor().notices(&keys[1]).await;
        if told.iter().any(|one| one.message.contains(word)) {
            return keys;
        }
        assert!(began.elapsed() < PATIENCE, "{told:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The pending job starts when the other has ended.
pub async fn the_other_goes_on(server: &OnSlurm, keys: &[AttemptKey; 2]) {
    server.executor().cancel(&keys[0], StopCause::Cancelled, Duration::from_secs(1)).await;
    assert_eq!(server.recorder().ended(&keys[1]).await.outcome, Outcome::Succeeded);
}

/// A server whose jobs request a QOS with this limit, which the member may use.
pub fn limited(limit: &str, change: impl FnOnce(&mut SlurmConfig)) -> OnSlurm {
    let qos = format!("tight{:x}", random());
    slurm(&["sacctmgr", "-i", "add", "qos", &qos, limit]);
    let (who, more) = (format!("name={}", told("CUBELOOM_TEST_SLURM_MEMBER")), format!("qos+={qos}"));
    slurm(&["sacctmgr", "-i", "modify", "user", "where", &who, "set", &more]);
    OnSlurm::with(|config| {
        change(config);
        config.facts.qos = Some(qos);
    })
}

/// A QOS that an administrator created.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quality_of_service_that_holds_a_job_back_is_told_in_slurms_words() {
    let server = limited("MaxTRESPerUser=cpu=1", |_| {});
    let keys = one_waits(&server, "QOSMaxCpuPerUserLimit").await;
    the_other_goes_on(&server, &keys).await;
}

/// Slurm accepts no second job while the first exists: the job stays pending, with the reason.
async fn a_full_queue_is_waited_for(change: impl FnOnce(&mut SlurmConfig), word: &str) {
    let server = limited("MaxSubmitJobsPerUser=1", change);
    let keys = one_waits(&server, word).await;
    let name = format!("--name={}", keys[1].object_name());
    assert_eq!(slurm(&["squeue", "--noheader", "--states=all", &name]), "", "it was never taken");
    the_other_goes_on(&server, &keys).await;
    assert_eq!(keys.each_ref().map(|key| executions(&server, key)), [1, 1]);
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_that_is_full_for_sbatch_is_waited_for() {
    a_full_queue_is_waited_for(|_| {}, "QOSMaxSubmitJobPerUserLimit").await;
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_that_is_full_for_slurmrestd_is_waited_for() {
    a_full_queue_is_waited_for(over_rest, "job submit limit").await;
}

/// A worker's only process exceeds its memory: Slurm or the kernel kills it.
async fn a_worker_runs_out_of_memory(change: impl FnOnce(&mut SlurmConfig)) {
    let hungry = Program::shell(HUNGRY).with(|program| program.memory = Bytes(64 << 20));
    let (_, ended) = run(&OnSlurm::with(change), &hungry).await;
    assert_eq!(failure(&ended).kind, FailureKind::OutOfMemory, "{ended:?}");
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_runs_out_of_memory_is_told_so() {
    a_worker_runs_out_of_memory(|_| {}).await;
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_runs_out_of_memory_is_told_so_over_slurmrestd() {
    a_worker_runs_out_of_memory(over_rest).await;
}

/// A stopped server cannot enforce a task's `timeout`: Slurm does.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slurms_own_limit_of_time_is_told_as_one() {
    let server = OnSlurm::new();
    let mut job = server.job(&Program::shell(&signed("sleep 600")));
    job.timeout = Some(Span(Duration::from_secs(60)));
    let key = job.key.clone();
    server.executor().submit(server.submission_of(job)).await;
    until_executed(&server, &key, 1).await;
    let ended = ended_late(&server, &key).await;
    let told = failure(&ended);
    assert_eq!(
        (told.kind, told.message.as_str()),
        (FailureKind::Timeout, "Slurm ended it at its time limit")
    );
    assert_gone(&server, &key);
}
