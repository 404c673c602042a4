//! Starting an attempt's workers: what must be there first, then one shim after the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::Event;
use cubeloom_domain::lowered::LocalJob;
use cubeloom_domain::outcome::{Failure, FailureKind, WorkerName};
use cubeloom_workers::ends::End;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch as latch;

use crate::attempt::Happened;
use crate::cgroup::Cgroup;
use crate::error::reason;
use crate::machine::Machine;
use crate::python::Toolchain;
use crate::secrets::Values;
use crate::spawn::{self, Launch};
use crate::spec::{self, ExitRecord};
use crate::watch::Gone;

/// The control group of a worker.
pub(crate) fn cgroup(machine: &Machine, key: &AttemptKey, name: &WorkerName) -> Option<Cgroup> {
    machine.hierarchy.group(&format!("{}-{name}", key.object_name()))
}

/// What the workers of a job need before they start: their Python, which is made if it is not there, and their secrets,
/// those of `person` among them. `tell` hears what is being made.
///
/// # Errors
/// A sentence: it cannot be made, or a secret is not there.
pub(crate) async fn prepare(
    machine: &Machine,
    job: &LocalJob,
    person: &str,
    user: Option<u32>,
    tell: impl Fn(String),
) -> Result<(Toolchain, Values), String> {
    let toolchain = match &job.python {
        Some(wanted) => machine.pythons.toolchain(wanted, user, tell).await?,
        None => Toolchain::default(),
    };
    // Last, so that they are as fresh as can be.
    Ok((toolchain, Values::of(&machine.config, job, person).await?))
}

/// Makes the folder `dir`, which its workers' own lie in, and those that the job shares with others. Blocking.
///
/// # Errors
/// A sentence that names the folder.
pub(crate) fn folders(
    machine: &Machine,
    job: &LocalJob,
    dir: &Path,
    user: Option<u32>,
) -> Result<(), String> {
    spawn::attempt_folder(dir).map_err(|error| folder_sentence(dir, &error))?;
    let workspace = machine.layout.top("workspace");
    job.folders.iter().map(Path::new).try_for_each(|folder| {
        spawn::project_folder(&workspace, folder, user).map_err(|error| folder_sentence(folder, &error))
    })
}

fn folder_sentence(folder: &Path, error: &std::io::Error) -> String {
    format!("the folder {} cannot be made: {}", folder.display(), reason(error))
}

/// Starts some workers of one attempt.
pub(crate) struct Start {
    pub(crate) machine: Arc<Machine>,
    pub(crate) job: Arc<LocalJob>,
    /// Whose run it is.
    pub(crate) person: String,
    /// The workers to start.
    pub(crate) ranks: Vec<usize>,
    /// The attempt's folder.
    pub(crate) dir: PathBuf,
    pub(crate) sender: UnboundedSender<Happened>,
    /// Becomes true when no more workers may start.
    pub(crate) stopping: latch::Receiver<bool>,
}

impl Start {
    /// From the Python environment to the last shim. Whatever happens is sent.
    pub(crate) async fn run(mut self) {
        let user = match self.machine.owners.user(&self.job.project) {
            Ok(user) => user,
            Err(error) => return self.unprepared(error.sentence()),
        };
        let mut stopping = self.stopping.clone();
        let (toolchain, secrets) = tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => return self.none_runs(),
            prepared = self.prepare(user) => match prepared {
                Ok(prepared) => prepared,
                Err(message) => return self.unprepared(message),
            },
        };
        let _ = tokio::task::spawn_blocking(move || self.spawn_all(user, &toolchain, &secrets)).await;
    }

    async fn prepare(&self, user: Option<u32>) -> Result<(Toolchain, Values), String> {
        let tell = |what: String| self.machine.report(&self.job.key, Event::Preparing(what));
        prepare(&self.machine, &self.job, &self.person, user, tell).await
    }

    fn unprepared(&self, message: String) {
        let _ = self.sender.send(Happened::Unprepared(Failure::new(FailureKind::CouldNotStart, message)));
    }

    fn none_runs(&mut self) {
        for rank in std::mem::take(&mut self.ranks) {
            self.never_ran(rank);
        }
    }

    fn never_ran(&self, rank: usize) {
        let record = ExitRecord::without_run(End::NeverRan, true, self.machine.clock.now());
        let _ = self.sender.send(Happened::Gone(rank, Gone::Ended(record)));
    }

    /// Blocking: makes the folders, then starts shim after shim until a stop comes.
    fn spawn_all(mut self, user: Option<u32>, toolchain: &Toolchain, secrets: &Values) {
        if let Err(message) = folders(&self.machine, &self.job, &self.dir, user) {
            return self.unprepared(message);
        }
        let machine = Arc::clone(&self.machine);
        let token = machine.tokens.of(&self.job.key);
        let launch = Launch {
            config: &machine.config,
            user,
            toolchain,
            token: &token,
            secrets,
            stop_file: spec::stop_file(&self.dir),
            spares: &machine.spares,
            notes: &machine.notes,
            key: &self.job.key,
            terminal: None,
        };
        for rank in std::mem::take(&mut self.ranks) {
            if *self.stopping.borrow() {
                self.never_ran(rank);
                continue;
            }
            let worker = &self.job.workers[rank];
            let cgroup = cgroup(&self.machine, &self.job.key, &worker.name);
            let happened = match launch.worker(worker, cgroup) {
                Ok(spawned) => Happened::Spawned(rank, spawned),
                Err(message) => Happened::Refused(rank, message),
            };
            let _ = self.sender.send(happened);
        }
        machine.spares.refill(&machine.config, &machine.notes);
    }
}
