//! The user that builds Python environments, their location, and the installer's limits.
//!
//! Wheels are unpacked without running code. So one uid builds the environments of all projects, none of
//! which may write there, and shares its download cache. Building from source runs package code: this happens
//! under the project's uid, in folders of the project.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cubeloom_files::own;
use rustix::process::{Pid, Signal};
use tokio::process::Command;

use super::{Interpreter, Pythons};
use crate::cgroup::{Cgroup, Entrance};
use crate::error::reason;
use crate::folders::{ENTERED, PRIVATE, give, make};
use crate::shim::become_user;
use crate::spec::Limits;

/// A user that builds environments.
#[derive(Clone, Debug)]
pub(super) struct Maker {
    /// Its uid and gid; `None`: the server's own.
    pub(super) user: Option<u32>,
    /// The folder of uv's cache, and its home.
    pub(super) cache: PathBuf,
    /// The folder of the environments.
    pub(super) venvs: PathBuf,
    /// Whether it may build any package without a wheel.
    pub(super) sources: bool,
}

impl Pythons {
    /// The builder for a project with the uid `user`. Source builds run as that project only, and so does an
    /// interpreter that a project could have put there.
    ///
    /// # Errors
    /// A sentence: its folders cannot be created.
    pub(super) fn maker(
        &self,
        interpreter: &Interpreter,
        builds: bool,
        user: Option<u32>,
    ) -> Result<Maker, String> {
        let (cache, venvs) = (self.data.join("cache"), self.data.join("venvs"));
        let own = user.filter(|_| self.sources || builds || !is_the_systems(&interpreter.path));
        let maker = match own {
            Some(user) => Maker {
                user: Some(user),
                cache: cache.join(format!("uv-{user}")),
                venvs: venvs.join(user.to_string()),
                sources: self.sources,
            },
            None => Maker { user: self.builder, cache: cache.join("uv"), venvs, sources: self.sources },
        };
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error: io::Error| format!("{} cannot be created: {}", path.display(), reason(&error))
        };
        // The cache reveals what other projects use.
        make(&maker.cache, PRIVATE)
            .and_then(|_| own::set_permissions(&maker.cache, fs::Permissions::from_mode(PRIVATE)))
            .and_then(|()| give(&maker.cache, maker.user))
            .map_err(failed(&maker.cache))?;
        if own.is_some() {
            // Owned by the server, so that a project cannot move an environment during its creation.
            make(&maker.venvs, ENTERED)
                .and_then(|_| own::chown(&maker.venvs, None, own))
                .map_err(failed(&maker.venvs))?;
        }
        Ok(maker)
    }

    /// A control group for one installer, if there are control groups.
    pub(super) fn confinement(&self, limits: Limits) -> Option<(Cgroup, Limits)> {
        static TURNS: AtomicU64 = AtomicU64::new(0);
        let turn = TURNS.fetch_add(1, Ordering::Relaxed);
        let group = self.hierarchy.group(&format!("python-{}-{turn}", std::process::id()))?;
        Some((group, limits))
    }
}

/// Whether only root can change or replace a program.
fn is_the_systems(program: &Path) -> bool {
    let Ok(real) = own::canonicalize(program) else { return false };
    let closed = |path: &Path| {
        own::symlink_metadata(path)
            .is_ok_and(|found| found.uid() == 0 && (found.is_symlink() || found.mode() & 0o022 == 0))
    };
    [program, &real].into_iter().all(|path| path.is_absolute() && path.ancestors().all(closed))
}

/// A process group, and the control group around it. Dropping it kills all processes in them, so that a
/// cancelled installation leaves nothing running.
pub(super) struct Confined {
    process: Option<Pid>,
    cgroup: Option<Cgroup>,
}

impl Confined {
    /// Starts a program as `user`, with `limits` if there are control groups.
    pub(super) fn spawn(
        command: &mut Command,
        user: Option<u32>,
        cgroup: Option<(Cgroup, Limits)>,
    ) -> io::Result<(Self, tokio::process::Child)> {
        let mut entrance = Entrance::default();
        if let Some((cgroup, limits)) = &cgroup {
            cgroup.create(limits)?;
            entrance = cgroup.entrance()?;
        }
        let mut confined = Self { process: None, cgroup: cgroup.map(|(cgroup, _)| cgroup) };
        let confine = move || {
            entrance.enter(false)?;
            user.map_or(Ok(()), become_user)?;
            rustix::thread::set_no_new_privs(true)?;
            Ok(())
        };
        // SAFETY: between fork and exec it only makes system calls.
        #[allow(unsafe_code)]
        let child = unsafe { command.process_group(0).pre_exec(confine).spawn()? };
        confined.process = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok((confined, child))
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        if let Some(process) = self.process {
            let _ = rustix::process::kill_process_group(process, Signal::KILL);
        }
        if let Some(cgroup) = self.cgroup.take() {
            cgroup.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn an_interpreter_that_somebody_could_have_put_there_is_not_the_systems() {
        assert!(is_the_systems(Path::new("/bin/sh")));
        assert!(!is_the_systems(Path::new("/bin/../bin/nothing")));
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("python3");
        fs::write(&own, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(!is_the_systems(&own), "the folder of temporary files is everybody's");
        let link = folder.path().join("link");
        symlink("/bin/sh", &link).unwrap();
        assert!(!is_the_systems(&link), "a link can be changed by who may write beside it");
    }
}
