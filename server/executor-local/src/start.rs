//! Starts an attempt's workers: the prerequisites first, then one shim after the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::Event;
use cubeloom_domain::lowered::{LocalJob, LocalWorker};
use cubeloom_domain::outcome::{Failure, FailureKind, WorkerName};
use cubeloom_domain::quantity::Span;
use cubeloom_workers::ends::End;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch as latch;

use crate::attempt::Happened;
use crate::cgroup::Cgroup;
use crate::error::reason;
use crate::folders::make_below;
use crate::machine::Machine;
use crate::python::Toolchain;
use crate::sandbox;
use crate::secrets::Values;
use crate::spawn::{self, Launch};
use crate::spec::{self, ExitRecord, Limits, View};
use crate::watch::Gone;

/// Timeout for building the environment of a task without a timeout.
const PREPARING: Span = Span(Duration::from_secs(2 * 60 * 60));

/// The control group of a worker.
pub(crate) fn cgroup(machine: &Machine, key: &AttemptKey, name: &WorkerName) -> Option<Cgroup> {
    machine.hierarchy.group(&group_name(key, name))
}

/// The name of a worker's control group.
pub(crate) fn group_name(key: &AttemptKey, name: &WorkerName) -> String {
    format!("{}-{name}", key.object_name())
}

/// The control group of a worker that starts, with its dedicated CPUs, if it requests some. Blocking.
///
/// # Errors
/// A sentence: the CPUs cannot be dedicated.
fn cgroup_with_cpus(
    machine: &Machine,
    key: &AttemptKey,
    worker: &LocalWorker,
) -> Result<Option<Cgroup>, String> {
    let group = cgroup(machine, key, &worker.name);
    match (group, &machine.cpusets) {
        (Some(group), Some(cpusets)) if worker.cpu_exclusive => {
            cpusets.dedicate(group, &group_name(key, &worker.name), (worker.cpu.0 / 1000) as usize).map(Some)
        }
        (group, _) => Ok(group),
    }
}

/// Prerequisites of a job's workers: their Python, built within `timeout` if it does not exist, and their
/// secrets, including those of `person`. `tell` receives progress messages.
///
/// # Errors
/// A build failed or timed out, or a secret is missing.
pub(crate) async fn prepare(
    machine: &Machine,
    job: &LocalJob,
    person: &str,
    user: Option<u32>,
    timeout: Option<Span>,
    tell: impl Fn(String),
) -> Result<(Toolchain, Values), Failure> {
    let could_not = |message| Failure::new(FailureKind::CouldNotStart, message);
    let toolchain = match &job.python {
        Some(wanted) => {
            let made = machine.pythons.toolchain(wanted, user, installing(machine, job), tell);
            let limit = timeout.unwrap_or(PREPARING);
            let late = |_| {
                let message = format!("its Python environment was not ready within its timeout of {limit}");
                Failure::new(FailureKind::Timeout, message)
            };
            tokio::time::timeout(limit.0, made).await.map_err(late)?.map_err(could_not)?
        }
        None => Toolchain::default(),
    };
    // Last, so that they are as fresh as possible.
    let secrets = Values::of(&machine.config, job, person).await.map_err(could_not)?;
    Ok((toolchain, secrets))
}

/// Limits of an installer: the total of the job's workers, which wait for it, and at least the minimum that
/// it needs.
fn installing(machine: &Machine, job: &LocalJob) -> Limits {
    const CORE: u64 = 1000;
    const MEMORY: u64 = 1 << 30;
    let sum = |of: fn(&LocalWorker) -> u64| job.workers.iter().map(of).fold(0, u64::saturating_add);
    Limits {
        cpu_millis: sum(|worker| worker.cpu.0).max(CORE),
        cpu_most_millis: 0,
        memory: sum(|worker| worker.memory.0).max(MEMORY),
        pids: machine.config.pids,
        nofile: machine.config.nofile,
        log: 0,
    }
}

/// Creates the folder `dir`, the parent of the workers' folders, and the folders that the job shares with
/// others. Blocking.
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
        make_below(&workspace, folder, user).map_err(|error| folder_sentence(folder, &error))
    })
}

/// The view of a job's workers with folders in `dir`; creates its folders. Blocking.
///
/// # Errors
/// A sentence: one cannot be created.
pub(crate) fn view(
    machine: &Machine,
    job: &LocalJob,
    dir: &Path,
    name: &str,
    user: Option<u32>,
) -> Result<Option<View>, String> {
    let Some(sight) = sandbox::sight(machine, job, dir, name) else { return Ok(None) };
    let failed =
        |error| format!("the workers' folders for temporary files cannot be created: {}", reason(&error));
    sight.prepare(user).map_err(failed)?;
    Ok(Some(sight.view()))
}

fn folder_sentence(folder: &Path, error: &std::io::Error) -> String {
    format!("the folder {} cannot be created: {}", folder.display(), reason(error))
}

/// Starts some workers of one attempt.
pub(crate) struct Start {
    pub(crate) machine: Arc<Machine>,
    pub(crate) job: Arc<LocalJob>,
    /// The user who owns the run.
    pub(crate) person: String,
    /// The task's timeout.
    pub(crate) timeout: Option<Span>,
    /// The workers to start.
    pub(crate) ranks: Vec<usize>,
    pub(crate) dir: PathBuf,
    pub(crate) sender: UnboundedSender<Happened>,
    /// Becomes true when no more workers may start.
    pub(crate) stopping: latch::Receiver<bool>,
}

impl Start {
    /// Does everything from the Python environment to the last shim, and sends every event.
    pub(crate) async fn run(mut self) {
        let user = match self.machine.owners.user(&self.job.project) {
            Ok(user) => user,
            Err(error) => return self.could_not(error.sentence()),
        };
        let mut stopping = self.stopping.clone();
        let (toolchain, secrets) = tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => return self.none_runs(),
            prepared = self.prepare(user) => match prepared {
                Ok(prepared) => prepared,
                Err(failure) => return self.unprepared(failure),
            },
        };
        let _ = tokio::task::spawn_blocking(move || self.spawn_all(user, &toolchain, &secrets)).await;
    }

    async fn prepare(&self, user: Option<u32>) -> Result<(Toolchain, Values), Failure> {
        let tell = |what: String| self.machine.report(&self.job.key, Event::Preparing(what));
        prepare(&self.machine, &self.job, &self.person, user, self.timeout, tell).await
    }

    fn unprepared(&self, failure: Failure) {
        let _ = self.sender.send(Happened::Unprepared(failure));
    }

    fn could_not(&self, message: String) {
        self.unprepared(Failure::new(FailureKind::CouldNotStart, message));
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

    /// Blocking: creates the folders, then starts shim after shim until a stop.
    fn spawn_all(mut self, user: Option<u32>, toolchain: &Toolchain, secrets: &Values) {
        if let Err(message) = folders(&self.machine, &self.job, &self.dir, user) {
            return self.could_not(message);
        }
        let machine = Arc::clone(&self.machine);
        let view = match view(&machine, &self.job, &self.dir, &self.job.key.object_name(), user) {
            Ok(view) => view,
            Err(message) => return self.could_not(message),
        };
        let token = machine.tokens.of(&self.job.key);
        let launch = Launch {
            machine: &machine,
            project: &self.job.project,
            dir: &self.dir,
            user,
            toolchain,
            token: &token,
            secrets,
            stop_file: spec::stop_file(&self.dir),
            key: &self.job.key,
            terminal: None,
            view,
        };
        for rank in std::mem::take(&mut self.ranks) {
            if *self.stopping.borrow() {
                self.never_ran(rank);
                continue;
            }
            let worker = &self.job.workers[rank];
            let spawned = cgroup_with_cpus(&self.machine, &self.job.key, worker)
                .and_then(|cgroup| launch.worker(worker, cgroup));
            let happened = match spawned {
                Ok(spawned) => Happened::Spawned(rank, spawned),
                Err(message) => {
                    if let Some(cpusets) = self.machine.cpusets.as_ref().filter(|_| worker.cpu_exclusive) {
                        cpusets.release(&group_name(&self.job.key, &worker.name));
                    }
                    Happened::Refused(rank, message)
                }
            };
            let _ = self.sender.send(happened);
        }
        machine.spares.refill(&machine.config, &machine.notes);
    }
}
