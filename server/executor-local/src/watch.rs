//! Waits for shims by their process descriptors, and determines how a worker ended.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::failpoint::hit;
use cubeloom_files::own;
use rustix::process::{Pid, Signal};

use crate::cgroup::Cgroup;
use crate::descriptor::readable;
use crate::look::{Found, Shim, look, wait_for_lock};
use crate::spec::{ExitRecord, Started};

/// Delay before an unreadable folder is read again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What happened to a worker whose shim is gone.
pub(crate) enum Gone {
    /// It ended, and left its record.
    Ended(ExitRecord),
    /// It may have run; how it ended is unknown. Nothing of it runs any more.
    Lost,
    /// It never ran; the shim's exit code, if it was our child.
    NeverRan(Option<i32>),
}

/// A shim to wait for.
pub(crate) struct Watched {
    /// Its descriptor, shared with the code that signals it.
    pub(crate) pidfd: Arc<OwnedFd>,
    /// For reaping it, if it is our child.
    pub(crate) child: Option<Child>,
}

/// Waits until a worker's shim, or any other shim that has the worker, is gone; `found` receives another
/// shim.
pub(crate) async fn watch(
    folder: PathBuf,
    outputs: PathBuf,
    mut watched: Option<Watched>,
    cgroup: Option<Cgroup>,
    found: impl Fn(Arc<OwnedFd>),
) -> Gone {
    let mut code = None;
    loop {
        if let Some(Watched { pidfd, child }) = watched.take() {
            exited(&pidfd).await;
            hit("local.exit.seen");
            if let Some(mut child) = child {
                code = child.wait().ok().and_then(|status| status.code());
            }
        }
        match look(&folder) {
            Ok(Found::Done(record)) => return Gone::Ended(record),
            Ok(Found::Nothing) => return Gone::NeverRan(code),
            Ok(Found::Running(Shim { pidfd, .. })) => {
                let pidfd = Arc::new(pidfd);
                found(Arc::clone(&pidfd));
                watched = Some(Watched { pidfd, child: None });
            }
            Ok(Found::Locked) => locked(&folder).await,
            Ok(Found::Dead(started)) => {
                clear(started, outputs, cgroup).await;
                return Gone::Lost;
            }
            Err(error) => {
                // This says nothing about the worker: a server without free descriptors gets this error too.
                tracing::warn!(folder = %folder.display(), %error, "a worker's folder cannot be read; trying again");
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    }
}

/// Waits for the end of a process.
pub(crate) async fn exited(pidfd: &Arc<OwnedFd>) {
    match readable(pidfd) {
        Ok(descriptor) => {
            let _ = descriptor.readable().await;
        }
        Err(error) => {
            tracing::warn!(%error, "a process descriptor cannot be watched; a thread waits for it instead");
            let pidfd = Arc::clone(pidfd);
            let _ = tokio::task::spawn_blocking(move || wait_blocking(&pidfd)).await;
        }
    }
}

fn wait_blocking(pidfd: &OwnedFd) {
    let mut poll = [rustix::event::PollFd::new(pidfd, rustix::event::PollFlags::IN)];
    while rustix::event::poll(&mut poll, None) == Err(rustix::io::Errno::INTR) {}
}

async fn locked(folder: &Path) {
    let folder = folder.to_path_buf();
    let waited = tokio::task::spawn_blocking(move || wait_for_lock(&folder)).await;
    if let Ok(Err(error)) = waited {
        tracing::warn!(%error, "waiting for a worker's lock failed");
    }
}

/// Kills what a dead shim left behind.
async fn clear(started: Option<Started>, outputs: PathBuf, cgroup: Option<Cgroup>) {
    let cgroup = started.and_then(|started| started.cgroup).or(cgroup);
    let _ = tokio::task::spawn_blocking(move || end_left(cgroup.as_ref(), &outputs)).await;
}

/// Kills the processes of a worker whose shim is gone; they are identified by its control group or its report
/// file. Blocking.
pub(crate) fn end_left(cgroup: Option<&Cgroup>, outputs: &Path) {
    loop {
        let left = processes_of(cgroup, outputs);
        if left.is_empty() {
            if let Some(cgroup) = cgroup {
                cgroup.remove();
            }
            return;
        }
        for pid in left.into_iter().filter_map(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The processes of a worker.
pub(crate) fn processes_of(cgroup: Option<&Cgroup>, outputs: &Path) -> Vec<i32> {
    match cgroup {
        Some(cgroup) => cgroup.processes(),
        None => with_variable(&format!("CUBELOOM_OUTPUTS={}", outputs.display())),
    }
}

/// Processes whose environment contains `variable`: identifies a worker's processes without control groups.
fn with_variable(variable: &str) -> Vec<i32> {
    let Ok(processes) = own::read_dir("/proc") else { return Vec::new() };
    let holds = |pid: &i32| -> io::Result<bool> {
        let environ = own::read(format!("/proc/{pid}/environ"))?;
        Ok(environ.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes()))
    };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| holds(pid).unwrap_or(false))
        .collect()
}
