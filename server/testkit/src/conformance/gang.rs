//! Workers of a gang: the first cause of a failure, the master's success, tolerated losses.

use std::time::{Duration, Instant};

use cubeloom_domain::outcome::{FailureKind, Outcome};

use super::{Harness, PATIENCE, Program, assert_gone, failure, run, signed};

/// The worker that failed first is named, with its exit code and its last lines; the others are stopped.
pub async fn first_cause(harness: &mut dyn Harness) {
    let text = signed("if [ $CUBELOOM_RANK = 2 ]; then sleep 0.2; echo broken >&2; exit 9; fi; sleep 60");
    let began = Instant::now();
    let (key, ended) = run(harness, &Program::shell(&text).workers(4)).await;
    let cause = failure(&ended);
    assert_eq!((cause.kind, cause.exit_code), (FailureKind::Exit, Some(9)));
    assert_eq!(cause.worker.as_ref().map(ToString::to_string).as_deref(), Some("worker-2"));
    assert_eq!(cause.last_lines, ["broken"]);
    assert!(cause.message.contains("3 other workers were stopped because of it"), "{}", cause.message);
    assert!(began.elapsed() < PATIENCE);
    assert_gone(harness, &key);
}

/// A worker killed from outside fails the job.
pub async fn killed(harness: &mut dyn Harness) {
    let text = "test $CUBELOOM_RANK = 1 && { sleep 0.2; kill -9 $$; }; sleep 60";
    let (_, ended) = run(harness, &Program::shell(text).workers(2)).await;
    assert_eq!((failure(&ended).kind, failure(&ended).signal), (FailureKind::Signal, Some(9)));
}

/// Orphans of a worker end with it.
pub async fn orphans(harness: &mut dyn Harness) {
    let text = "(setsid sleep 60 &) ; sleep 60 & exit 0";
    let began = Instant::now();
    let (key, ended) = run(harness, &Program::shell(text)).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert!(began.elapsed() < Duration::from_secs(40));
    assert_gone(harness, &key);
}

/// When the master succeeds, the job does, and the others are stopped.
pub async fn master(harness: &mut dyn Harness) {
    let text = signed("test $CUBELOOM_ROLE = master && { sleep 0.2; exit 0; }; sleep 60");
    let (key, ended) = run(harness, &Program::shell(&text).master_and(3)).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_gone(harness, &key);
    let text = "test $CUBELOOM_ROLE = master && sleep 60; exit 5";
    let (_, ended) = run(harness, &Program::shell(text).master_and(1)).await;
    assert_eq!(failure(&ended).worker.as_ref().map(ToString::to_string).as_deref(), Some("worker-0"));
}

/// Elastic workers may be lost as long as enough remain.
pub async fn elastic(harness: &mut dyn Harness) {
    let lose = |count: u32| format!("test $CUBELOOM_RANK -lt {count} && exit 1; sleep 0.4");
    let (_, ended) = run(harness, &Program::shell(&lose(2)).workers(4).elastic(2)).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    let (_, ended) = run(harness, &Program::shell(&lose(3)).workers(4).elastic(2)).await;
    assert_eq!(failure(&ended).kind, FailureKind::Exit);
}
