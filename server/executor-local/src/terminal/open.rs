//! Opens a terminal: the worker's own order, with a shell in place of its program and other folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cubeloom_domain::lowered::{Bindings, LocalBindings, LocalJob, LocalPaths, LocalWorker, Lowered};
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::terminal::TerminalOrder;
use cubeloom_files::own;
use cubeloom_workers::screen::Screen;
use cubeloom_workers::shell;
use tokio::sync::watch as latch;

use super::pty::Pty;
use super::sweep::group_name;
use super::{FOLDER, LocalTerminal};
use crate::cgroup::Cgroup;
use crate::error::reason;
use crate::leases::Lent;
use crate::machine::Machine;
use crate::python::Toolchain;
use crate::secrets::Values;
use crate::spares::Spawned;
use crate::spawn::Launch;
use crate::spec::{self, TerminalSpec};
use crate::watch::{end_left, exited};
use crate::{sandbox, start, templates};

/// Startup file of the shell, in the worker's folder.
const FIRST: &str = "shell";

/// Opens the requested terminal.
///
/// # Errors
/// Something that the attempt had no longer exists, or the machine has no capacity for another shell.
pub(super) async fn open(machine: Arc<Machine>, order: TerminalOrder) -> Result<LocalTerminal, Failure> {
    machine.listen();
    let scratch = machine.layout.top(FOLDER).join(&order.id);
    let lent = machine.leases.lend(&order.job, order.rank)?;
    let local = lowered(&machine, &order, &lent, &scratch)?;
    let user = machine.owners.user(&local.project).map_err(|error| could_not(error.sentence()))?;
    let (toolchain, secrets) =
        start::prepare(&machine, &local, &order.job.user, user, order.job.timeout, |_| ()).await?;
    let worker = local.workers.get(order.rank as usize).cloned();
    let worker = with_shell(worker.ok_or_else(|| could_not("the attempt has no such worker"))?, &order);
    let pty = Pty::open(order.size, user);
    let (pty, device) =
        pty.map_err(|error| could_not(format!("the system has no free terminal: {}", reason(&error))))?;
    let name = group_name(&order.id);
    let shell = Shell {
        cgroup: machine.hierarchy.group(&name),
        name,
        outputs: (&worker.outputs_file).into(),
        machine,
        scratch,
        lent,
    };
    let screen = Screen::new(&secrets.masks(&worker.secrets));
    let launched = tokio::task::spawn_blocking(move || {
        match shell.launch(&local, &worker, user, &toolchain, &secrets, device) {
            Ok(spawned) => Ok((shell, spawned)),
            Err(message) => {
                shell.remove();
                Err(message)
            }
        }
    });
    let (shell, spawned) =
        launched.await.map_err(|error| could_not(error.to_string()))?.map_err(could_not)?;
    let (told, gone) = latch::channel(false);
    let shim = Arc::new(spawned.pidfd);
    tokio::spawn(shell.wait(Arc::clone(&shim), spawned.child, told));
    Ok(LocalTerminal { pty, screen, shim, gone })
}

fn could_not(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::CouldNotStart, message)
}

/// The attempt's job, except for paths that it would write to, and its leases on this machine.
fn lowered(
    machine: &Machine,
    order: &TerminalOrder,
    lent: &Lent,
    scratch: &Path,
) -> Result<LocalJob, Failure> {
    let job = &*order.job;
    let paths = machine.layout.of_job(job, &machine.config)?;
    are_there(&paths)?;
    templates::provide(Path::new(&job.template_folder), Path::new(&paths.template_dir)).map_err(could_not)?;
    let paths = LocalPaths { attempt_dir: scratch.to_string_lossy().into_owned(), ..paths };
    let bindings = Bindings::Local(LocalBindings { workers: lent.bindings(), paths });
    match (order.lower)(job, &bindings)? {
        Lowered::Local(local) => Ok(local),
        Lowered::Kubernetes(_) | Lowered::Slurm(_) | Lowered::None => {
            Err(could_not("it was not compiled for this machine"))
        }
    }
}

/// Checks for files of the attempt that cannot be recreated.
fn are_there(paths: &LocalPaths) -> Result<(), Failure> {
    if !Path::new(&paths.run_dir).is_dir() {
        return Err(could_not("the run's folder no longer exists"));
    }
    if !paths.code.is_empty() && !Path::new(&paths.code).is_dir() {
        return Err(could_not("the run's copy of the pipeline's code no longer exists"));
    }
    Ok(())
}

/// The worker with a shell in place of its program.
fn with_shell(mut worker: LocalWorker, order: &TerminalOrder) -> LocalWorker {
    let setup = std::mem::take(&mut worker.setup);
    let argv = std::mem::replace(&mut worker.argv, shell::words(&format!("{}/{FIRST}", worker.folder)));
    worker.files.insert(FIRST.into(), shell::first(&order.greeting, &setup, &argv));
    worker.env.insert("TERM".into(), "xterm-256color".into());
    worker
}

/// Resources of a shell until it has ended.
struct Shell {
    machine: Arc<Machine>,
    scratch: PathBuf,
    /// Name of its control group, and of its shared memory.
    name: String,
    cgroup: Option<Cgroup>,
    /// The file that identifies its processes without control groups.
    outputs: PathBuf,
    lent: Lent,
}

impl Shell {
    /// Creates its folders and starts its shim. Blocking.
    fn launch(
        &self,
        job: &LocalJob,
        worker: &LocalWorker,
        user: Option<u32>,
        toolchain: &Toolchain,
        secrets: &Values,
        device: PathBuf,
    ) -> Result<Spawned, String> {
        let machine = &self.machine;
        start::folders(machine, job, &self.scratch, user)?;
        let view = start::view(machine, job, &self.scratch, &self.name, user)?;
        let launch = Launch {
            machine,
            project: &job.project,
            dir: &self.scratch,
            user,
            toolchain,
            token: &machine.tokens.of(&job.key),
            secrets,
            stop_file: spec::stop_file(&self.scratch),
            key: &job.key,
            terminal: Some(TerminalSpec { device, scratch: self.scratch.clone() }),
            view,
        };
        launch.worker(worker, self.cgroup.clone())
    }

    fn remove(&self) {
        sandbox::remove(&self.scratch, &self.name);
        let _ = own::remove_dir_all(&self.scratch);
    }

    /// Waits for its end. Also removes the remains of a killed shim.
    async fn wait(
        self,
        shim: Arc<std::os::fd::OwnedFd>,
        mut child: std::process::Child,
        told: latch::Sender<bool>,
    ) {
        exited(&shim).await;
        let _ = tokio::task::spawn_blocking(move || {
            let _ = child.wait();
            if self.scratch.exists() {
                end_left(self.cgroup.as_ref(), &self.outputs);
            }
            self.remove();
            drop(self.lent);
        })
        .await;
        told.send_replace(true);
    }
}
