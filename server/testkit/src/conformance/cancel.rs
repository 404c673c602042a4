//! Cancellation in each state, and of workers that ignore it.

use std::time::{Duration, Instant};

use cubeloom_domain::executor::StopCause;
use cubeloom_domain::outcome::{FailureKind, Outcome};

use super::{
    Harness, PATIENCE, Program, SIGN, assert_gone, executions, failure, run, signed, until_executed,
};

const GRACE: Duration = Duration::from_secs(5);

/// A job that was never submitted is cancelled immediately, and stays so.
pub async fn before(harness: &mut dyn Harness) {
    let submission = harness.submission(&Program::shell(&signed("")));
    let key = submission.job.key.clone();
    harness.executor().cancel(&key, StopCause::Cancelled, GRACE).await;
    let ended = harness.recorder().ended(&key).await;
    assert_eq!((ended.outcome, ended.started_at), (Outcome::Cancelled, None));
    harness.executor().submit(submission).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(executions(harness, &key), 0, "what was cancelled does not start");
}

/// During its start: no process is left, whether it ran or not.
pub async fn starting(harness: &mut dyn Harness) {
    for delay in [0, 1, 3, 10] {
        let submission = harness.submission(&Program::shell("sleep 60").workers(8));
        let key = submission.job.key.clone();
        harness.executor().submit(submission).await;
        tokio::time::sleep(Duration::from_millis(delay)).await;
        harness.executor().cancel(&key, StopCause::Cancelled, GRACE).await;
        assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Cancelled);
        assert_gone(harness, &key);
    }
}

/// While it runs: all of its processes get TERM.
pub async fn running(harness: &mut dyn Harness) {
    let text = format!("trap 'echo told; exit 0' TERM\nsleep 60 & sleep 60 &\n{SIGN}\nwait");
    let submission = harness.submission(&Program::shell(&text).workers(2));
    let key = submission.job.key.clone();
    harness.executor().submit(submission).await;
    harness.recorder().started(&key).await;
    until_executed(harness, &key, 2).await;
    // A grace period longer than any wait of a case: the end itself shows that nothing waits for it to pass.
    harness.executor().cancel(&key, StopCause::Cancelled, 2 * PATIENCE).await;
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Cancelled);
    assert_eq!(harness.output_len(&key, "worker-1"), 5, "the worker was told");
    assert_gone(harness, &key);
}

/// After its end: the outcome stays.
pub async fn ended(harness: &mut dyn Harness) {
    let (key, ended) = run(harness, &Program::shell("true")).await;
    harness.executor().cancel(&key, StopCause::Cancelled, GRACE).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
}

/// A worker that ignores TERM, with children in separate sessions, is killed after the grace period.
pub async fn stubborn(harness: &mut dyn Harness) {
    let text =
        format!("trap '' TERM\nsetsid sleep 60 & (setsid sleep 60 &)\n{SIGN}\nwhile true; do sleep 1; done");
    let submission = harness.submission(&Program::shell(&text));
    let key = submission.job.key.clone();
    harness.executor().submit(submission).await;
    until_executed(harness, &key, 1).await;
    let began = Instant::now();
    let grace = Duration::from_millis(500);
    harness.executor().cancel(&key, StopCause::Cancelled, grace).await;
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Cancelled);
    let (took, by_itself) = (began.elapsed(), Duration::from_secs(60));
    assert!(took >= grace && took < by_itself / 2, "{took:?}");
    assert_gone(harness, &key);
}

/// A timeout and a preemption are distinct outcomes.
pub async fn causes(harness: &mut dyn Harness) {
    for (cause, kind) in
        [(StopCause::Timeout, FailureKind::Timeout), (StopCause::Preempted, FailureKind::Preempted)]
    {
        let submission = harness.submission(&Program::shell("exec sleep 60"));
        let key = submission.job.key.clone();
        harness.executor().submit(submission).await;
        harness.recorder().started(&key).await;
        harness.executor().cancel(&key, cause, GRACE).await;
        let ended = harness.recorder().ended(&key).await;
        assert_eq!(failure(&ended).kind, kind);
    }
}
