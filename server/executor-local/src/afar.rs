//! What workers that run elsewhere write into an attempt's folder on a file system that this machine sees, too: they are
//! watched by their files alone, and their logs are read as those of this machine's are.

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

/// One worker, by its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Since when its program runs, or ran.
    pub began: Option<Timestamp>,
    /// Whether it is written down how it ended.
    pub ended: bool,
}

/// No machine has so many processors, or cards: no worker uses more at once.
const MOST_CPUS: u64 = 8192;
const MOST_CARDS: u64 = 256;
/// The least that a program that ran has run.
const MOMENT: Duration = Duration::from_millis(1);
/// The most that is stored of anything.
const MOST: u64 = i64::MAX.unsigned_abs();

/// When something of an attempt can have happened: between its submission and now. Records are their account's to write, so
/// their moments and amounts are believed no further than that.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    since: Timestamp,
    now: Timestamp,
}

impl Span {
    /// From one moment to another; the second holds where they are in the wrong order.
    #[must_use]
    pub fn new(since: Timestamp, now: Timestamp) -> Self {
        Self { since: since.min(now), now }
    }

    fn moment(self, at: Timestamp) -> Timestamp {
        at.clamp(self.since, self.now)
    }

    /// When a worker ran. A node's clock may be ahead of this machine's, or behind: what lies beyond the bounds is moved, and not
    /// made shorter, as far as it fits between them. What ran at all took a moment, and is counted with it.
    fn ran(self, began: Timestamp, ended: Timestamp) -> (Timestamp, Timestamp) {
        let ran = ended.since(began).max(MOMENT).min(self.now.since(self.since));
        let ended = self.moment(ended).max(self.since.plus(ran));
        (self.moment(began).min(ended.minus(ran)), ended)
    }

    fn exit(self, exit: &ExitRecord) -> ExitRecord {
        let ran = exit.started_at.map(|at| self.ran(at, exit.ended_at));
        let (started_at, ended_at) =
            ran.map_or((None, self.moment(exit.ended_at)), |(began, ended)| (Some(began), ended));
        // Measures of a brief run are rougher than its moments.
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

/// What all workers used, no more than is stored.
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
/// A worker's record cannot be seen now: that is no end.
pub fn look(job: &LocalJob, folder: &Place, span: Span) -> io::Result<Vec<Seen>> {
    let of_worker = |place: Place| {
        let exit = exit_written(&place)?;
        let ended = exit.is_some();
        let began = exit.map_or_else(|| started(place).map(|started| started.at), |exit| exit.started_at);
        Ok(Seen { began: began.map(|at| span.moment(at)), ended })
    };
    job.workers.iter().map(|worker| of_worker(folder.other(&worker.folder))).collect()
}

/// How an attempt ended of which nothing runs any more. Workers without a record never ran where a stop was wanted, be it one
/// that lies in the folder or `wish`; else they are lost.
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

/// The file in an attempt's folder at which its workers look: a wish to stop.
pub const STOP: &str = crate::spec::STOP;

/// A wish as it is to lie in an attempt's folder, where an earlier one may lie: the first reason stays, the grace may only get
/// shorter.
#[must_use]
pub fn wished(folder: impl Into<Place>, wish: StopWish) -> StopWish {
    match wish_in(folder) {
        Some(earlier) => StopWish { why: earlier.why, grace_ms: earlier.grace_ms.min(wish.grace_ms) },
        None => wish,
    }
}

/// Leaves a wish to stop in a folder of this server's own.
///
/// # Errors
/// It cannot be written.
pub fn stop(folder: &Path, wish: StopWish) -> io::Result<()> {
    write_wish(folder, &wished(folder, wish))
}

/// The wish to stop that lies in a folder.
#[must_use]
pub fn wish(folder: &Path) -> Option<StopWish> {
    wish_in(folder)
}

/// The logs of those of an attempt's workers that have begun, in the order of their names.
///
/// # Errors
/// They cannot be read.
pub fn logs(folder: &Place, workers: Vec<WorkerName>) -> io::Result<Vec<Log>> {
    log_files::of(folder, begun(folder, workers).collect())
}

/// At most `limit` bytes of a log, from `offset`.
///
/// # Errors
/// It cannot be read, or the name is none of a worker's.
pub fn read_log(folder: &Place, name: &LogName, offset: u64, limit: usize) -> io::Result<LogPiece> {
    log_files::read(log_files::folder(folder, &name.worker)?, name.stream, offset, limit)
}

/// More of all workers of an attempt together is not read, in bytes, of reports or of samples.
const TOGETHER: u64 = 64 << 20;

/// What the workers of an attempt that have begun have reported so far, in the order of their names. What goes beyond
/// [`TOGETHER`] is left out, worker by worker.
///
/// # Errors
/// It cannot be read.
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

/// What the workers of an attempt that have begun used over time, in the order of their names. Samples beyond [`TOGETHER`] are
/// left out.
///
/// # Errors
/// It cannot be read.
pub fn usage(folder: impl Into<Place>, workers: Vec<WorkerName>) -> io::Result<Vec<WorkerUsage>> {
    usage_within(&folder.into(), workers, TOGETHER)
}

fn usage_within(folder: &Place, workers: Vec<WorkerName>, most: u64) -> io::Result<Vec<WorkerUsage>> {
    let mut left = most;
    let mut read = |worker| Ok(WorkerUsage { samples: samples(folder, &worker, &mut left)?, worker });
    begun(folder, workers).map(&mut read).collect()
}

/// Those of some workers that have begun. Only these are looked for: an account may make any number of folders beside theirs.
fn begun(folder: &Place, mut workers: Vec<WorkerName>) -> impl Iterator<Item = WorkerName> {
    workers.sort();
    workers.into_iter().filter(|worker| folder.join(worker.to_string()).join(STDOUT).exists())
}

#[cfg(test)]
mod tests;
