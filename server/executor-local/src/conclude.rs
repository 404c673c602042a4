//! The end of an attempt: its outcome, reports and usage, and the removal of temporary files.

use std::path::PathBuf;

use cubeloom_domain::executor::Ended;
use cubeloom_domain::outcome::{Failure, Outcome};
use cubeloom_domain::usage::{RoleUsage, UsageSummary};

use crate::attempt::{Attempt, Worker};
use crate::earlier;
use crate::spawn::remove_scratch;
use crate::spec::{ExitRecord, STDERR, STDOUT};
use cubeloom_workers::logs;
use cubeloom_workers::outputs;
use cubeloom_workers::place::Place;

/// How many of a failed worker's last log lines to keep.
const LAST_LINES: usize = 20;
/// Up to this many workers, with outputs of up to this many bytes each, are concluded inline.
const QUICK_WORKERS: usize = 4;
const QUICK_BYTES: u64 = 16 << 10;

/// Few workers with little to read: not worth another thread.
pub(crate) fn is_quick(attempt: &Attempt) -> bool {
    let small = |worker: &Worker| logs::len(&worker.outputs).is_ok_and(|length| length < QUICK_BYTES);
    attempt.workers.len() <= QUICK_WORKERS && attempt.workers.iter().all(small)
}

/// Assembles the result of an attempt. Blocking: it reads files.
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
        usage: usage(attempt),
        roles: roles(attempt),
    }
}

/// Usage of all workers, including earlier runs of workers that were released and started again.
fn usage(attempt: &Attempt) -> UsageSummary {
    let folders = attempt.workers.iter().filter(|_| attempt.gang.is_elastic()).map(|worker| &worker.folder);
    let earlier = folders.flat_map(|folder| earlier::exits(folder));
    let all = attempt.gang.exits().map(|exit| exit.usage).chain(earlier.map(|exit| exit.usage));
    all.reduce(UsageSummary::join).unwrap_or_default()
}

/// Usage of the largest worker of each role, including earlier runs of workers that were released and started
/// again.
fn roles(attempt: &Attempt) -> Vec<RoleUsage> {
    let of_worker = |(rank, worker): (usize, &Worker)| {
        let earlier = if attempt.gang.is_elastic() { earlier::exits(&worker.folder) } else { Vec::new() };
        let all: Vec<RoleUsage> = attempt
            .gang
            .exit(rank)
            .into_iter()
            .chain(&earlier)
            .filter_map(|exit| role_usage(&worker.name.role, exit))
            .collect();
        all
    };
    RoleUsage::by_role(attempt.workers.iter().enumerate().flat_map(of_worker))
}

/// Usage of one worker of a role, if it ran.
pub(crate) fn role_usage(role: &str, exit: &ExitRecord) -> Option<RoleUsage> {
    let started = exit.started_at?;
    let micros = exit.ended_at.0.saturating_sub(started.0).max(0).unsigned_abs();
    Some(RoleUsage::of_worker(role, &exit.usage, micros))
}

/// The end of standard error, or of standard output if that is empty.
pub(crate) fn last_lines(folder: impl Into<Place>) -> Vec<String> {
    let folder = folder.into();
    let tail = |name| logs::tail(folder.join(name), LAST_LINES).unwrap_or_default();
    let lines = tail(STDERR);
    if lines.is_empty() { tail(STDOUT) } else { lines }
}

/// Removes files that only running workers need.
pub(crate) fn clean(folders: &[PathBuf]) {
    folders.iter().for_each(|folder| remove_scratch(folder));
}
