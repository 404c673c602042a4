//! Workers that come to a job that runs, and workers that it gives back; for executors that can do that.

use std::time::Duration;

use cubeloom_domain::executor::{BoxFuture, Event, StopCause, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::{AttemptKey, Bytes};

use super::{Harness, Program, assert_gone, failure, signed, until_executed};

const GRACE: Duration = Duration::from_secs(5);

/// A place where single workers can be given and taken.
pub trait ScalingHarness: Harness {
    /// What is submitted for a job that is bound.
    fn lowered(&self, job: Job) -> Submission;

    /// Waits until the workers of an attempt have this memory, which they were given while they run: a moment, where the
    /// executor gives it itself.
    fn given<'a>(&'a self, _key: &'a AttemptKey, _memory: Bytes) -> BoxFuture<'a, ()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(500)))
    }
}

/// The same attempt with so many workers. Those that come are bound.
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

/// What workers do that end well when they are told to, and when `$LEDGER.end` is there.
const WAITS: &str = r#"trap 'echo told >&2; exit 0' TERM
while true; do test -e "$LEDGER.end" && exit 0; sleep 0.05; done"#;

fn patient() -> String {
    signed(WAITS)
}

fn finish(harness: &impl ScalingHarness) {
    let path = harness.ledger().with_extension("end");
    std::fs::write(path, "").expect("the ledger's folder can be written to");
}

/// Submits one with `workers` of at most four, of which one must stay; waits until they run.
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

/// Waits until this many workers are left.
async fn resized(harness: &impl ScalingHarness, key: &AttemptKey, to: u32) {
    let left = |event: &Event| matches!(event, Event::Resized { workers } if *workers == to).then_some(());
    harness.recorder().first(key, "that workers have gone", left).await;
}

/// Workers that come run beside those that are there.
pub async fn grows(harness: &mut impl ScalingHarness) {
    let (key, submission) = begin(harness, &patient(), 1).await;
    scale(harness, &with(harness, &submission, 3)).await;
    until_executed(harness, &key, 3).await;
    assert!(harness.alive(&key) >= 3, "all run at once");
    finish(harness);
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_gone(harness, &key);
}

/// Those with the highest ranks go, are told before, and the job goes on without them.
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

/// One that takes no notice is ended when its time is over, and its bad end is none of the job's.
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

/// What was given back comes again, again and again.
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

/// A worker that was lost comes again when the job is given another size, and then counts as one that is there.
pub async fn lost_ones_return(harness: &mut impl ScalingHarness) {
    let lost =
        r#"[ $CUBELOOM_RANK = 1 ] && [ "$(grep -c "$CUBELOOM_RUN worker-1 " "$LEDGER")" = 1 ] && exit 9"#;
    let (key, submission) = begin(harness, &signed(&format!("{lost}\n{WAITS}")), 3).await;
    // It is lost as soon as it has signed; what follows holds before its end is noticed, too.
    tokio::time::sleep(Duration::from_millis(500)).await;
    scale(harness, &with(harness, &submission, 2)).await;
    resized(harness, &key, 2).await;
    until_executed(harness, &key, 4).await;
    finish(harness);
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
}

/// Being unable to keep the least fails it, also when some were given back.
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

/// The server is killed while workers go: the next one says that they have gone.
pub async fn crash(harness: &mut impl ScalingHarness) {
    for wait in [0, 20, 200] {
        let (key, submission) = begin(harness, &patient(), 3).await;
        scale(harness, &with(harness, &submission, 1)).await;
        // Whether the wish was written down or not: the next server decides again.
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

/// The server is killed after it has written that workers come, and before they have: the next one starts them.
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

/// A stop of the whole counts, whatever was to come or go.
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
