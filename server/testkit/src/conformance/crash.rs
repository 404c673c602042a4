//! The server is killed, and another takes over. No job is lost, and none runs twice.

use std::time::Duration;

use cubeloom_domain::executor::{Event, StopCause};
use cubeloom_domain::outcome::{FailureKind, Outcome};

use super::{Harness, Program, SIGN, assert_gone, executions, failure, signed, until_executed};

const GRACE: Duration = Duration::from_secs(5);

/// Before it was submitted: the new server does not know it, and starts it.
pub async fn before(harness: &mut dyn Harness) {
    let submission = harness.submission(&Program::shell(&signed("")));
    let key = submission.job.key.clone();
    harness.crash();
    harness.executor().adopt(submission.clone()).await;
    harness
        .recorder()
        .first(&key, "that it is not there", |event| (*event == Event::NotFound).then_some(()))
        .await;
    harness.executor().submit(submission).await;
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_eq!(executions(harness, &key), 1);
}

/// At random moments of its start.
pub async fn starting(harness: &mut dyn Harness) {
    for delay in [0, 1, 2, 4, 8, 16] {
        let submission = harness.submission(&Program::shell(&signed("sleep 0.3")).workers(8));
        let key = submission.job.key.clone();
        harness.executor().submit(submission.clone()).await;
        tokio::time::sleep(Duration::from_millis(delay)).await;
        harness.crash();
        harness.executor().submit(submission).await;
        assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded, "after {delay} ms");
        assert_eq!(executions(harness, &key), 8, "after {delay} ms");
    }
}

/// While it runs: it continues, and its end is reported.
pub async fn running(harness: &mut dyn Harness) {
    let text = signed(
        r#"until [ -e "$LEDGER.end" ]; do sleep 0.05; done; echo '{"output": {"rows": 1}}' >> "$CUBELOOM_OUTPUTS""#,
    );
    let submission = harness.submission(&Program::shell(&text).workers(2));
    let key = submission.job.key.clone();
    harness.executor().submit(submission.clone()).await;
    until_executed(harness, &key, 2).await;
    harness.crash();
    harness.executor().adopt(submission).await;
    harness.recorder().started(&key).await;
    std::fs::write(harness.ledger().with_extension("end"), "")
        .expect("the ledger's folder can be written to");
    let ended = harness.recorder().ended(&key).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_eq!(ended.report.outputs["rows"], 1);
    assert_eq!(executions(harness, &key), 2);
}

/// After its end, which was never reported.
pub async fn ended(harness: &mut dyn Harness) {
    let submission = harness.submission(&Program::shell(&signed("echo why >&2; exit 3")));
    let key = submission.job.key.clone();
    harness.executor().submit(submission.clone()).await;
    let first = harness.recorder().ended(&key).await;
    harness.crash();
    harness.executor().adopt(submission).await;
    assert_eq!(harness.recorder().ended(&key).await, first, "the same end, to the microsecond");
    assert_eq!(executions(harness, &key), 1);
}

/// It ends while no server is running.
pub async fn away(harness: &mut dyn Harness) {
    let submission = harness.submission(&Program::shell(&signed("sleep 0.2; exit 3")));
    let key = submission.job.key.clone();
    harness.executor().submit(submission.clone()).await;
    until_executed(harness, &key, 1).await;
    harness.crash();
    tokio::time::sleep(Duration::from_millis(500)).await;
    harness.executor().adopt(submission).await;
    assert_eq!(failure(&harness.recorder().ended(&key).await).exit_code, Some(3));
}

/// While it is being stopped, at any moment: the stop is completed, and its cause is kept.
pub async fn stopping(harness: &mut dyn Harness) {
    let submission =
        harness.submission(&Program::shell(&format!("trap '' TERM\n{SIGN}\nwhile true; do sleep 0.1; done")));
    let key = submission.job.key.clone();
    harness.executor().submit(submission.clone()).await;
    until_executed(harness, &key, 1).await;
    harness.executor().cancel(&key, StopCause::Timeout, Duration::from_millis(500)).await;
    harness.crash();
    // As the engine does: it knows that it requested the stop, but not whether the request arrived.
    harness.executor().adopt(submission).await;
    harness.executor().cancel(&key, StopCause::Timeout, Duration::from_millis(500)).await;
    let ended = harness.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::Timeout);
    assert_gone(harness, &key);
}

/// The new server must stop it before it has adopted it.
pub async fn cancelled_after(harness: &mut dyn Harness) {
    let submission = harness.submission(&Program::shell(&signed("exec sleep 60")).workers(3));
    let key = submission.job.key.clone();
    harness.executor().submit(submission).await;
    until_executed(harness, &key, 3).await;
    harness.crash();
    harness.executor().cancel(&key, StopCause::Cancelled, GRACE).await;
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Cancelled);
    assert_gone(harness, &key);
}
