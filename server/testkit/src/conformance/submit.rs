//! Submission: once, twice, concurrently; and the results.

use std::time::Duration;

use cubeloom_domain::executor::{Event, Metric, StopCause};
use cubeloom_domain::outcome::{FailureKind, Outcome};

use super::{Harness, Program, assert_gone, executions, failure, run, signed};

/// A successful program succeeds, and its end has times, usage and outputs.
pub async fn ends_well(harness: &mut dyn Harness) {
    let text = signed(r#"echo '{"output": {"rows": 10}}' >> "$CUBELOOM_OUTPUTS"; echo hello"#);
    let (key, ended) = run(harness, &Program::shell(&text).workers(3)).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_eq!(ended.report.outputs["rows"], 10);
    assert!(ended.started_at.is_some_and(|began| began <= ended.ended_at), "{ended:?}");
    let measured = ended.usage.cpu_us > 0 && ended.usage.peak_memory.0 > 0;
    assert!(measured || !harness.measures_usage(), "{:?}", ended.usage);
    assert_eq!(executions(harness, &key), 3);
    assert_eq!(harness.output_len(&key, "worker-2"), 6);
    assert_gone(harness, &key);
}

/// The values of a watched metric are reported while the program runs, for one rank only.
pub async fn measures(harness: &mut dyn Harness) {
    let line = |name: &str, value: f64| {
        format!(
            r#"echo '{{"metric": {{"name": "{name}", "value": {value}, "step": 1}}}}' >> "$CUBELOOM_OUTPUTS""#
        )
    };
    let text = signed(&format!("{}\n{}\nsleep 30", line("other", 1.0), line("loss", 0.5)));
    let program = Program::shell(&text).workers(2).with(|program| program.watches = Some("loss".into()));
    let submission = harness.submission(&program);
    let key = submission.job.key.clone();
    harness.executor().submit(submission).await;
    let told = |event: &Event| match event {
        Event::Measured(metric) => Some(metric.clone()),
        _ => None,
    };
    let metric = harness.recorder().first(&key, "a value", told).await;
    assert_eq!(metric, Metric { name: "loss".into(), value: 0.5, step: Some(1.0) });
    harness.executor().cancel(&key, StopCause::Outdone, Duration::from_millis(500)).await;
    let ended = harness.recorder().ended(&key).await;
    assert_eq!(ended.outcome, Outcome::Cancelled);
    assert_eq!(ended.report.metrics.len(), 4, "what was reported before stays: {:?}", ended.report);
    let told = harness.recorder().events(&key).iter().filter_map(told).count();
    assert_eq!(told, 1, "one rank's values count");
    assert_gone(harness, &key);
}

/// The same key runs once, however often it is submitted.
pub async fn twice(harness: &mut dyn Harness) {
    let submission = harness.submission(&Program::shell(&signed("sleep 0.2")));
    let key = submission.job.key.clone();
    let executor = harness.executor();
    executor.submit(submission.clone()).await;
    executor.submit(submission.clone()).await;
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    executor.submit(submission).await;
    assert_eq!(executions(harness, &key), 1);
    let ends: Vec<Event> = harness.recorder().events(&key);
    let ends: Vec<&Event> = ends.iter().filter(|event| matches!(event, Event::Ended(_))).collect();
    assert_eq!(ends.len(), 2, "the end is told again to who asks again");
    assert_eq!(ends[0], ends[1]);
}

/// The same from many tasks concurrently.
pub async fn concurrently(harness: &mut dyn Harness) {
    let submission = harness.submission(&Program::shell(&signed("")).workers(2));
    let key = submission.job.key.clone();
    let all: Vec<_> = (0..16)
        .map(|_| {
            let (executor, submission) = (harness.executor(), submission.clone());
            tokio::spawn(async move { executor.submit(submission).await })
        })
        .collect();
    for one in all {
        one.await.expect("submitting does not panic");
    }
    assert_eq!(harness.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_eq!(executions(harness, &key), 2);
}

/// Bindings stay the same until released, and are exclusive meanwhile.
pub async fn bindings(harness: &mut dyn Harness) {
    let one = harness.submission(&Program::shell("true").workers(3));
    let two = harness.submission(&Program::shell("true").workers(3));
    let executor = harness.executor();
    let bind = |job| executor.bind(job).expect("it can be bound");
    assert_eq!(bind(&one.job), bind(&one.job));
    assert_ne!(bind(&one.job), bind(&two.job));
    executor.release(&one.job.key);
    executor.release(&two.job.key);
}

/// Exit codes and signals are distinguished, with the last lines.
pub async fn exits(harness: &mut dyn Harness) {
    let (_, ended) = run(harness, &Program::shell("echo out; echo why >&2; exit 7")).await;
    let seven = failure(&ended);
    assert_eq!((seven.kind, seven.exit_code), (FailureKind::Exit, Some(7)));
    // Some clusters merge both streams.
    assert!(seven.last_lines.contains(&"why".to_owned()), "{:?}", seven.last_lines);
    assert!(seven.message.starts_with("worker-0 ended with exit code 7"), "{}", seven.message);
    let (_, ended) = run(harness, &Program::shell("kill -SEGV $$")).await;
    assert_eq!((failure(&ended).kind, failure(&ended).signal), (FailureKind::Signal, Some(11)));
}

/// `setup` runs before the program; its failure is a distinct outcome, and the program does not run.
pub async fn setup(harness: &mut dyn Harness) {
    let words = |text: &str| ["/bin/sh", "-c", text].map(String::from).to_vec();
    let program = Program::shell(&signed("test -f made")).with(|program| program.setup = words("touch made"));
    assert_eq!(run(harness, &program).await.1.outcome, Outcome::Succeeded);
    let program =
        Program::shell(&signed("")).with(|program| program.setup = words("echo no room >&2; exit 4"));
    let (key, ended) = run(harness, &program).await;
    let cause = failure(&ended);
    assert_eq!((cause.kind, cause.exit_code), (FailureKind::SetupFailed, Some(4)));
    assert_eq!(cause.last_lines, ["no room"]);
    assert_eq!(executions(harness, &key), 0);
}

/// The lowest rank that wrote an output wins; a missing required output fails the job.
pub async fn outputs(harness: &mut dyn Harness) {
    let text = r#"test $CUBELOOM_RANK = 0 || echo "{\"output\": {\"rank\": $CUBELOOM_RANK}}" >> "$CUBELOOM_OUTPUTS""#;
    let program = Program::shell(text).workers(3);
    let required = |names: &[&str]| {
        program.clone().with(|program| program.outputs = names.iter().map(|name| (*name).into()).collect())
    };
    let (_, ended) = run(harness, &required(&["rank"])).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_eq!(ended.report.outputs["rank"], 1);
    let (_, ended) = run(harness, &required(&["rank", "rows"])).await;
    assert_eq!(failure(&ended).kind, FailureKind::MissingOutput);
    assert!(failure(&ended).message.contains("`rows`"), "{}", failure(&ended).message);
}
