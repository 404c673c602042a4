//! Workers on other machines that write into an attempt's folder on a shared file system. This machine
//! watches their files only, and reads their logs like those of local workers.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::executor::{Ended, Report};
use cubeloom_domain::logs::{Log, LogName, LogPiece};
use cubeloom_domain::lowered::{LocalJob, LocalWorker};
use cubeloom_domain::outcome::{Outcome, WorkerName};
use cubeloom_domain::quantity::{Bytes, Cpu};
use cubeloom_domain::usage::{MemorySpread, RoleUsage, UsageSummary, WorkerUsage};
use cubeloom_workers::ends::End;
use cubeloom_workers::place::Place;
use cubeloom_workers::reports::Reports;
use cubeloom_workers::{logs, outputs};

use crate::alone::gang;
use crate::attempt::write_wish;
use crate::conclude::{last_lines, role_usage};
use crate::log_files::{self, OUTPUTS};
use crate::look::{exit_written, started};
use crate::spec::{ExitRecord, STDOUT, StopWhy, StopWish, wish_in};
use crate::usage_files::samples;

/// A worker's state, from its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Start of its program.
    pub began: Option<Timestamp>,
    /// Whether the record of its end exists.
    pub ended: bool,
}

/// Upper bound of CPUs or GPUs in a machine: no worker uses more at once.
const MOST_CPUS: u64 = 8192;
const MOST_CARDS: u64 = 256;
/// Minimum run time of a program that ran.
const MOMENT: Duration = Duration::from_millis(1);
/// Maximum of any stored amount.
const MOST: u64 = i64::MAX.unsigned_abs();

/// The time in which an attempt's events can have happened: between its submission and now. Its account can
/// write the records, so their times and amounts are clamped to this span.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    since: Timestamp,
    now: Timestamp,
}

impl Span {
    /// The span between two times; if they are in the wrong order, it is empty at the second.
    #[must_use]
    pub fn new(since: Timestamp, now: Timestamp) -> Self {
        Self { since: since.min(now), now }
    }

    fn moment(self, at: Timestamp) -> Timestamp {
        at.clamp(self.since, self.now)
    }

    /// When a worker ran. A node's clock may be ahead of or behind this machine's. A run outside the span is
    /// shifted into it, and keeps its duration if it fits. Any run lasted at least a moment.
    fn ran(self, began: Timestamp, ended: Timestamp) -> (Timestamp, Timestamp) {
        let ran = ended.since(began).max(MOMENT).min(self.now.since(self.since));
        let ended = self.moment(ended).max(self.since.plus(ran));
        (self.moment(began).min(ended.minus(ran)), ended)
    }

    fn exit(self, exit: &ExitRecord) -> ExitRecord {
        let ran = exit.started_at.map(|at| self.ran(at, exit.ended_at));
        let (started_at, ended_at) =
            ran.map_or((None, self.moment(exit.ended_at)), |(began, ended)| (Some(began), ended));
        // Usage of a brief run is less precise than its times.
        let rough = Duration::from_secs(1);
        let ran = ended_at.since(started_at.unwrap_or(self.since)).saturating_add(rough);
        let micros = u64::try_from(ran.as_micros()).unwrap_or(MOST);
        let bytes = |bytes: Bytes| Bytes(bytes.0.min(MOST));
        let usage = UsageSummary {
            cpu_us: exit.usage.cpu_us.min(micros.saturating_mul(MOST_CPUS)),
            peak_memory: bytes(exit.usage.peak_memory),
            kernel_peak_memory: exit.usage.kernel_peak_memory.map(bytes),
            memory: exit
                .usage
                .memory
                .map(|memory| MemorySpread { middle: bytes(memory.middle), high: bytes(memory.high) }),
            cpu_high: exit.usage.cpu_high.map(|cpu| cpu.min(Cpu(MOST_CPUS * 1000))),
            throttled: exit.usage.throttled.map(|thousandths| thousandths.min(1000)),
            cpu_waited: exit.usage.cpu_waited.map(|thousandths| thousandths.min(1000)),
            card_us: exit.usage.card_us.map(|card| card.min(micros.saturating_mul(MOST_CARDS))),
        };
        ExitRecord { started_at, ended_at, usage, ..exit.clone() }
    }
}

/// The usage of all workers, clamped to what can be stored.
fn sum<'a>(exits: impl Iterator<Item = &'a ExitRecord>) -> UsageSummary {
    let usage = exits.map(|exit| exit.usage).reduce(UsageSummary::join).unwrap_or_default();
    UsageSummary {
        cpu_us: usage.cpu_us.min(MOST),
        card_us: usage.card_us.map(|card| card.min(MOST)),
        ..usage
    }
}

/// The workers of a job, in rank order.
///
/// # Errors
/// A worker's record is unreadable at present, which does not mean that the worker has ended.
pub fn look(job: &LocalJob, folder: &Place, span: Span) -> io::Result<Vec<Seen>> {
    let of_worker = |place: Place| {
        let exit = exit_written(&place)?;
        let ended = exit.is_some();
        let began = exit.map_or_else(|| started(place).map(|started| started.at), |exit| exit.started_at);
        Ok(Seen { began: began.map(|at| span.moment(at)), ended })
    };
    job.workers.iter().map(|worker| of_worker(folder.other(&worker.folder))).collect()
}

/// How an attempt ended after everything has stopped. If a stop was requested, by a file in the folder or by
/// `wish`, workers without a record never ran. Otherwise they are lost.
#[must_use]
pub fn conclude(job: &LocalJob, folder: &Place, wish: Option<StopWish>, span: Span) -> Ended {
    let mut gang = gang(job, folder, wish);
    let wanted = wish_in(folder).or(wish).is_some_and(|wish| wish.why != StopWhy::Decided);
    let silent: Vec<usize> = gang.live().collect();
    for rank in silent {
        let end = if wanted { End::NeverRan } else { End::Lost };
        let began = started(folder.other(&job.workers[rank].folder)).map(|started| started.at);
        gang.exited(rank, ExitRecord { started_at: began, ..ExitRecord::without_run(end, wanted, span.now) });
    }
    let files =
        job.workers.iter().map(|worker| (worker.name.to_string(), folder.other(&worker.outputs_file)));
    let report = outputs::collect_within(files, TOGETHER);
    let mut outcome = gang.outcome(|rank| last_lines(folder.other(&job.workers[rank].folder)));
    if outcome == Outcome::Succeeded
        && let Some(missing) = outputs::missing(&job.outputs, &report)
    {
        outcome = Outcome::Failed(missing);
    }
    let exits: Vec<Option<ExitRecord>> =
        (0..job.workers.len()).map(|rank| gang.exit(rank).map(|exit| span.exit(exit))).collect();
    let known = || exits.iter().flatten();
    let of_worker =
        |(worker, exit): (&LocalWorker, &Option<ExitRecord>)| role_usage(&worker.name.role, exit.as_ref()?);
    Ended {
        outcome,
        started_at: known().filter_map(|exit| exit.started_at).min(),
        ended_at: known().map(|exit| exit.ended_at).max().unwrap_or(span.now),
        report,
        usage: sum(known()),
        roles: RoleUsage::by_role(job.workers.iter().zip(&exits).filter_map(of_worker)),
    }
}

/// The file in an attempt's folder with a stop request, which its workers poll.
pub const STOP: &str = crate::spec::STOP;

/// Merges a stop request with an earlier one in the folder: the first reason stays, and the grace period can
/// only shrink.
#[must_use]
pub fn wished(folder: impl Into<Place>, wish: StopWish) -> StopWish {
    match wish_in(folder) {
        Some(earlier) => StopWish { why: earlier.why, grace_ms: earlier.grace_ms.min(wish.grace_ms) },
        None => wish,
    }
}

/// Writes a stop request into a folder of this server.
pub fn stop(folder: &Path, wish: StopWish) -> io::Result<()> {
    write_wish(folder, &wished(folder, wish))
}

/// The stop request in a folder.
#[must_use]
pub fn wish(folder: &Path) -> Option<StopWish> {
    wish_in(folder)
}

/// Logs of those of these workers that have started, by name.
pub fn logs(folder: &Place, workers: Vec<WorkerName>) -> io::Result<Vec<Log>> {
    log_files::of(folder, begun(folder, workers).collect())
}

/// At most `limit` bytes of a log, from `offset`.
///
/// # Errors
/// The log cannot be read, or the name is not a worker's.
pub fn read_log(folder: &Place, name: &LogName, offset: u64, limit: usize) -> io::Result<LogPiece> {
    log_files::read(log_files::folder(folder, &name.worker)?, name.stream, offset, limit)
}

/// Offset up to which a log is known to be older than a time.
///
/// # Errors
/// The times cannot be read, or the name is not a worker's.
pub fn log_since(folder: &Place, name: &LogName, at: Timestamp) -> io::Result<u64> {
    log_files::since(log_files::folder(folder, &name.worker)?, name.stream, at)
}

/// Maximum size of reports, or of samples, to read from all workers of an attempt, in bytes.
const TOGETHER: u64 = 64 << 20;

/// Reports so far of those of these workers that have started, by name. Workers beyond [`TOGETHER`] have an
/// empty report.
pub fn reported(
    folder: impl Into<Place>,
    workers: Vec<WorkerName>,
    reports: &Reports,
) -> io::Result<Vec<Arc<Report>>> {
    let folder = folder.into();
    let mut left = TOGETHER;
    let mut read = |worker: WorkerName| {
        let file = folder.join(worker.to_string()).join(OUTPUTS);
        let length = logs::len(outputs::readable(&file))?.min(outputs::MOST as u64);
        if length > left {
            return Ok(Arc::default());
        }
        left -= length;
        reports.read(file)
    };
    begun(&folder, workers).map(&mut read).collect()
}

/// Usage over time of those of these workers that have started, by name. Samples beyond [`TOGETHER`] are left
/// out.
pub fn usage(folder: impl Into<Place>, workers: Vec<WorkerName>) -> io::Result<Vec<WorkerUsage>> {
    usage_within(&folder.into(), workers, TOGETHER)
}

fn usage_within(folder: &Place, workers: Vec<WorkerName>, most: u64) -> io::Result<Vec<WorkerUsage>> {
    let mut left = most;
    let mut read = |worker| Ok(WorkerUsage { samples: samples(folder, &worker, &mut left)?, worker });
    begun(folder, workers).map(&mut read).collect()
}

/// Those of these workers that have started. Checks these names only: an account may create any number of
/// other folders.
fn begun(folder: &Place, mut workers: Vec<WorkerName>) -> impl Iterator<Item = WorkerName> {
    workers.sort();
    workers.into_iter().filter(|worker| folder.join(worker.to_string()).join(STDOUT).exists())
}

#[cfg(test)]
mod tests;
