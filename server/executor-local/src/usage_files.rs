//! The port's series of what workers use, on this machine: the files that their shims write, also of earlier servers.

use std::fs;
use std::io;
use std::path::Path;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::BoxFuture;
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::usage::{Quantity, UsageSample, UsageSeries, WorkerUsage};

use crate::afar;
use crate::executor::LocalExecutor;
use crate::log_files::blocking;
use crate::spec::USAGE;

impl UsageSeries for LocalExecutor {
    fn series<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<WorkerUsage>>> {
        let dir = self.machine.layout.attempt(key);
        Box::pin(blocking(move || afar::usage(&dir)))
    }

    fn never_told(&self) -> &'static [Quantity] {
        // Workers share the network of the machine, which counts for all of them together.
        &[Quantity::Network]
    }
}

/// The samples of a worker; none where it was too short for one. A line that is being written is left for the next look.
pub(crate) fn samples(dir: &Path, worker: &WorkerName) -> io::Result<Vec<UsageSample>> {
    match fs::read_to_string(dir.join(worker.to_string()).join(USAGE)) {
        Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
