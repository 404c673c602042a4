//! Usage series of the executor port on this machine: files that the shims write, including those of earlier
//! servers.

use std::io;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::BoxFuture;
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::usage::{Quantity, UsageSample, UsageSeries, WorkerUsage};
use cubeloom_workers::logs;
use cubeloom_workers::place::Place;

use crate::afar;
use crate::executor::LocalExecutor;
use crate::log_files::{blocking, workers};
use crate::spec::USAGE;

impl UsageSeries for LocalExecutor {
    fn series<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<WorkerUsage>>> {
        let dir = self.machine.layout.attempt(key);
        Box::pin(blocking(move || afar::usage(&dir, workers(&dir)?)))
    }

    fn never_told(&self) -> &'static [Quantity] {
        // Workers share the machine's network, whose counters cover all of them together.
        &[Quantity::Network]
    }
}

/// The samples of a worker; empty if it ran too briefly. An incomplete line is left for the next read. Reads
/// at most `left` bytes, and subtracts them from it.
pub(crate) fn samples(dir: &Place, worker: &WorkerName, left: &mut u64) -> io::Result<Vec<UsageSample>> {
    let file = dir.join(worker.to_string()).join(USAGE);
    let length = logs::len(&file)?.min(*left);
    let piece = logs::range(&file, 0, usize::try_from(length).unwrap_or(usize::MAX))?;
    *left -= length;
    let lines = piece.bytes.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}
