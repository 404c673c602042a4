//! The end of an attempt: its outcome, what it reported and used, and the removal of what is not kept.

use std::path::{Path, PathBuf};

use cubeloom_domain::executor::Ended;
use cubeloom_domain::outcome::{Failure, Outcome};
use cubeloom_domain::usage::UsageSummary;

use crate::attempt::{Attempt, Worker};
use crate::spawn::remove_scratch;
use crate::spec::{STDERR, STDOUT};
use cubeloom_workers::logs;
use cubeloom_workers::outputs;

/// How many of a failed worker's last lines are kept.
const LAST_LINES: usize = 20;
/// So many workers, and outputs of so many bytes each, are read at once.
const QUICK_WORKERS: usize = 4;
const QUICK_BYTES: u64 = 16 << 10;

/// Few workers with little to read: not worth another thread.
pub(crate) fn is_quick(attempt: &Attempt) -> bool {
    let small = |worker: &Worker| logs::len(&worker.outputs).is_ok_and(|length| length < QUICK_BYTES);
    attempt.workers.len() <= QUICK_WORKERS && attempt.workers.iter().all(small)
}

/// Puts together how an attempt ended. Blocking: it reads files.
pub(crate) fn conclude(attempt: &Attempt, unprepared: Option<Failure>) -> Ended {
    let files = attempt.workers.iter().map(|worker| (worker.name.to_string(), worker.outputs.as_path()));
    let report = outputs::collect(files);
    let mut outcome = attempt.gang.outcome(|rank| last_lines(&attempt.workers[rank].folder));
    if let (Some(failure), false) = (unprepared, outcome == Outcome::Cancelled) {
        outcome = Outcome::Failed(failure);
    }
    if outcome == Outcome::Succeeded
        && let Some(missing) = outputs::missing(&attempt.required, &report)
    {
        outcome = Outcome::Failed(missing);
    }
    let ended_at = attempt.gang.exits().map(|exit| exit.ended_at).max();
    Ended {
        outcome,
        started_at: attempt.gang.exits().filter_map(|exit| exit.started_at).min(),
        ended_at: ended_at.unwrap_or_else(|| attempt.machine.clock.now()),
        report,
        usage: attempt.gang.exits().map(|exit| exit.usage).fold(UsageSummary::default(), UsageSummary::join),
    }
}

/// The end of standard error, or of standard output when there is nothing in the former.
fn last_lines(folder: &Path) -> Vec<String> {
    let tail = |name| logs::tail(&folder.join(name), LAST_LINES).unwrap_or_default();
    let lines = tail(STDERR);
    if lines.is_empty() { tail(STDOUT) } else { lines }
}

/// Removes what only running workers need.
pub(crate) fn clean(folders: &[PathBuf]) {
    folders.iter().for_each(|folder| remove_scratch(folder));
}
