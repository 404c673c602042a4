//! Workers added to a running job, and workers released by it; for executors that support it.

use std::time::Duration;

use cubeloom_domain::executor::{BoxFuture, Event, StopCause, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::{AttemptKey, Bytes};

use super::{Harness, Program, assert_gone, failure, signed, until_executed};

const GRACE: Duration = Duration::from_secs(5);

/// A harness whose jobs can gain and lose single workers.
pub trait ScalingHarness: Harness {
    /// The submission for a bound job.
    fn lowered(&self, job: Job) -> Submission;

    /// Waits until the workers of an attempt have this memory, which they got while running; immediate if the
    /// executor applies it itself.
    fn given<'a>(&'a self, _key: &'a AttemptKey, _memory: Bytes) -> BoxFuture<'a, ()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(500)))
    }
}

/// The same attempt with so many workers. Added workers are bound.
fn with(harness: &impl ScalingHarness, submission: &Submission, workers: u32) -> Submission {
    let mut job = Job::clone(&submission.job);
    job.roles.last_mut().expect("a job has a role").replicas = workers;
    if workers > submission.job.workers() {
        reserve(harness, &job);
    }
    harness.lowered(job)
}

fn reserve(harness: &impl ScalingHarness, job: &Job) {
    let executor = harness.executor();
    let bound = executor.bind(job).expect("there is room");
    executor.scaling().expect("it scales").resize(job, &bound).expect("there is room");
}

/// The program of workers that end successfully on TERM, and when `$LEDGER.end` exists.
const WAITS: &str = r#"trap 'echo told >&2; exit 0' TERM
while true; do test -e "$LEDGER.end" && exit 0; sleep 0.05; done"#;

fn patient() -> String {
    signed(WAITS)
}

fn finish(harness: &impl ScalingHarness) {
    let path = harness.ledger().with_extension("end");
    std::fs::write(path, "").expect("the ledger's folder can be written to");
}

/// Submits a job with `workers` of at most four workers, one of them required; waits until they run.
async fn begin(harness: &impl ScalingHarness, text: &str, workers: u32) -> (AttemptKey, Submission) {
    let most = harness.submission(&Program::shell(text).workers(4).elastic(1));
    let key = most.job.key.clone();
    harness.executor().release(&key);
    let mut job = Job::clone(&most.job);
    job.roles.last_mut().expect("a job has a role").replicas = workers;
    harness.executor().bind(&job).expect("there is room");
    let submission = harness.lowered(job);
    harness.executor().submit(submission.clone()).await;
    harness.recorder().started(&key).await;
    until_executed(harness, &key, workers as usize).await;
    (key, submission)
}

async fn scale(harness: &impl ScalingHarness, submission: &Submission) {
    let executor = harness.executor();
    executor.scaling().expect("it scales").scale(submission.clone(), GRACE).await;
}

/// Waits until this many workers remain.
async fn resized(harness: &impl ScalingHarness, key: &AttemptKey, to: u32) {
    let left = |event: &Event| matches!(event, Event::Resized { workers } if *workers == to).then_some(());
    harness.recorder().first(key, "that workers have gone", left).await;
}

/// Added workers run next to the existing ones.
pub async fn grows(harness: &mut impl ScalingHarness) {
    let (key, submission) = begin(harness, &patient(), 1).await;
    scale(harness, &with(harness, &submission, 3)).await;
    until_executed(harness, &key, 3).await;
    assert!(harness.alive(&key) >= 3, "all run at once");
    finish(harness);
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_gone(harness, &key);
}

/// The highest ranks get TERM first and are released, and the job continues without them.
pub async fn gives_back(harness: &mut impl ScalingHarness) {
    let (key, submission) = begin(harness, &patient(), 3).await;
    scale(harness, &with(harness, &submission, 1)).await;
    resized(harness, &key, 1).await;
    assert!(harness.output_len(&key, "worker-0") == 0, "the first is not told");
    finish(harness);
    let ended = harness.recorder().ended(&key).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_gone(harness, &key);
}

/// A worker that ignores TERM is killed after the grace period, and its failure does not affect the job.
pub async fn stubborn(harness: &mut impl ScalingHarness) {
    let text = signed("trap '' TERM; while true; do test -e \"$LEDGER.end\" && exit 0; sleep 0.05; done");
    let (key, submission) = begin(harness, &text, 2).await;
    let fewer = with(harness, &submission, 1);
    let executor = harness.executor();
    executor.scaling().expect("it scales").scale(fewer, Duration::from_millis(200)).await;
    resized(harness, &key, 1).await;
    finish(harness);
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
}

/// Released workers are added again, repeatedly.
pub async fn comes_again(harness: &mut impl ScalingHarness) {
    let (key, mut submission) = begin(harness, &patient(), 2).await;
    for round in 1..=2 {
        let fewer = with(harness, &submission, 1);
        scale(harness, &fewer).await;
        let gone = async {
            let told = |event: &&Event| matches!(event, Event::Resized { workers: 1 });
            while harness.recorder().events(&key).iter().filter(told).count() < round {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(super::PATIENCE, gone).await.expect("it is told each time");
        reserve(harness, &fewer.job);
        submission = with(harness, &fewer, 2);
        scale(harness, &submission).await;
        until_executed(harness, &key, 2 + round).await;
    }
    finish(harness);
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_gone(harness, &key);
}

/// A lost worker returns when the job is resized, and then counts as present.
pub async fn lost_ones_return(harness: &mut impl ScalingHarness) {
    let lost =
        r#"[ $CUBELOOM_RANK = 1 ] && [ "$(grep -c "$CUBELOOM_RUN worker-1 " "$LEDGER")" = 1 ] && exit 9"#;
    let (key, submission) = begin(harness, &signed(&format!("{lost}\n{WAITS}")), 3).await;
    // It is lost as soon as it has signed; the rest also holds before its end is noticed.
    tokio::time::sleep(Duration::from_millis(500)).await;
    scale(harness, &with(harness, &submission, 2)).await;
    resized(harness, &key, 2).await;
    until_executed(harness, &key, 4).await;
    finish(harness);
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
}

/// Fewer workers than the minimum fail the job, also after releases.
pub async fn the_least(harness: &mut impl ScalingHarness) {
    let text = signed("while true; do test -e \"$LEDGER.end\" && exit 7; sleep 0.05; done");
    let (key, submission) = begin(harness, &text, 3).await;
    scale(harness, &with(harness, &submission, 1)).await;
    resized(harness, &key, 1).await;
    finish(harness);
    let ended = harness.recorder().ended(&key).await;
    let cause = failure(&ended);
    assert_eq!((cause.kind, cause.exit_code), (FailureKind::Exit, Some(7)));
    assert!(!cause.message.contains("other worker"), "{}", cause.message);
}

/// The server is killed while workers are being released: the next one reports that they have ended.
pub async fn crash(harness: &mut impl ScalingHarness) {
    for wait in [0, 20, 200] {
        let (key, submission) = begin(harness, &patient(), 3).await;
        scale(harness, &with(harness, &submission, 1)).await;
        // Whether the request was stored or not: the next server decides again.
        tokio::time::sleep(Duration::from_millis(wait)).await;
        harness.crash();
        harness.executor().rebind(&submission.job, &harness.executor().bind(&submission.job).expect("room"));
        harness.executor().adopt(submission.clone()).await;
        harness.recorder().started(&key).await;
        scale(harness, &with(harness, &submission, 1)).await;
        resized(harness, &key, 1).await;
        finish(harness);
        assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded, "after {wait} ms");
        std::fs::remove_file(harness.ledger().with_extension("end")).expect("it was made");
    }
}

/// The server is killed after it has stored that workers are added, and before they start: the next one
/// starts them.
pub async fn crash_before_they_come(harness: &mut impl ScalingHarness) {
    let (key, submission) = begin(harness, &patient(), 1).await;
    let more = with(harness, &submission, 3);
    harness.crash();
    harness.executor().bind(&more.job).expect("room");
    harness.executor().adopt(more).await;
    until_executed(harness, &key, 3).await;
    finish(harness);
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
}

/// Cancelling the job takes precedence over any resize.
pub async fn cancelled(harness: &mut impl ScalingHarness) {
    let (key, submission) = begin(harness, &patient(), 3).await;
    let executor = harness.executor();
    scale(harness, &with(harness, &submission, 1)).await;
    executor.cancel(&key, StopCause::Cancelled, GRACE).await;
    scale(harness, &with(harness, &submission, 3)).await;
    let ended = harness.recorder().ended(&key).await;
    assert_eq!(ended.outcome, Outcome::Cancelled);
    assert_gone(harness, &key);
}
