//! Many workers, long logs.

use cubeloom_domain::outcome::Outcome;

use super::{Harness, Program, assert_gone, executions, run, signed};

/// A gang of 1,000 workers starts, runs and ends, each once.
pub async fn thousand_workers(harness: &mut dyn Harness) {
    let program = Program::shell(&signed("")).workers(1000);
    let (key, ended) = run(harness, &program).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_eq!(executions(harness, &key), 1000);
    assert_gone(harness, &key);
}

/// 100 MB of log per worker are written completely.
pub async fn long_logs(harness: &mut dyn Harness) {
    let (key, ended) = run(harness, &Program::shell("head -c 100000000 /dev/zero").workers(2)).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    for worker in ["worker-0", "worker-1"] {
        assert_eq!(harness.output_len(&key, worker), 100_000_000);
    }
}
