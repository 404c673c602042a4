//! Starting one worker: its folder, its order, its shim.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::failpoint::hit;
use cubeloom_domain::lowered::LocalWorker;
use rustix::fs::{Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

use crate::attempt::millis;
use crate::config::LocalConfig;
use crate::error::reason;
use crate::folders::{ENTERED, OWN, give, is_given_folder, make_all, make_owned};
use crate::notes::Notes;
use crate::python::Toolchain;
use crate::secrets::{self, Values};
use crate::spares::{Spares, Spawned};
use crate::spec::{Limits, ShimSpec, TerminalSpec};

/// Scratch folders below a worker's own, removed when the attempt has ended.
pub(crate) const SCRATCH: [&str; 2] = ["work", secrets::FOLDER];
/// The variable that lets the workers of one attempt know each other.
const TOKEN_VARIABLE: &str = "CUBELOOM_JOB_TOKEN";
/// The variable that names the folder of a worker's secret files.
const SECRETS_VARIABLE: &str = "CUBELOOM_SECRETS";

/// The time that the programs in a terminal have once they were told that it is gone.
const SHELL_GRACE: Duration = Duration::from_secs(1);

/// What all workers of an attempt have in common.
pub(crate) struct Launch<'a> {
    /// The settings.
    pub(crate) config: &'a LocalConfig,
    /// The uid and gid.
    pub(crate) user: Option<u32>,
    /// Where Python is.
    pub(crate) toolchain: &'a Toolchain,
    /// The attempt's token.
    pub(crate) token: &'a str,
    /// The values of its secrets.
    pub(crate) secrets: &'a Values,
    /// The attempt's stop file.
    pub(crate) stop_file: PathBuf,
    /// The shims that wait.
    pub(crate) spares: &'a Spares,
    /// Where shims say that their program runs.
    pub(crate) notes: &'a Notes,
    /// The attempt.
    pub(crate) key: &'a AttemptKey,
    /// The terminal that the worker runs in, where it is a person's shell.
    pub(crate) terminal: Option<TerminalSpec>,
}

impl Launch<'_> {
    /// Starts the shim of one worker.
    ///
    /// # Errors
    /// A sentence: why it could not be started. Nothing of it runs then.
    pub(crate) fn worker(
        &self,
        worker: &LocalWorker,
        cgroup: Option<crate::cgroup::Cgroup>,
    ) -> Result<Spawned, String> {
        hit("local.submit.folders");
        folders(worker, self.user).map_err(|error| {
            format!("the folder {} of {} cannot be made: {}", worker.folder, worker.name, reason(&error))
        })?;
        let provided = self.secrets.provide(&worker.secrets, Path::new(&worker.folder), self.user)?;
        let order = self.order(worker, provided, cgroup);
        let text = serde_json::to_vec(&order).map_err(|error| error.to_string())?;
        self.spares.order(self.config, self.notes, &text).map_err(|error| {
            format!("its shim {} cannot be started: {}", self.config.bin.display(), reason(&error))
        })
    }

    fn order(
        &self,
        worker: &LocalWorker,
        provided: Vec<(String, String)>,
        cgroup: Option<crate::cgroup::Cgroup>,
    ) -> ShimSpec {
        let mut env = worker.env.clone();
        env.entry("PATH".into()).or_insert_with(|| self.config.path.clone());
        self.toolchain.apply(&mut env);
        tell(&mut env, worker, self.token, provided);
        ShimSpec {
            attempt: self.key.clone(),
            rank: worker.rank,
            folder: (&worker.folder).into(),
            stop_file: self.stop_file.clone(),
            server_pid: std::process::id(),
            argv: worker.argv.clone(),
            setup: worker.setup.clone(),
            env: env.into_iter().collect(),
            cwd: (&worker.cwd).into(),
            user: self.user,
            masks: self.secrets.masks(&worker.secrets),
            outputs: (&worker.outputs_file).into(),
            limits: Limits {
                cpu_millis: worker.cpu.0,
                memory: worker.memory.0,
                pids: self.config.pids,
                nofile: self.config.nofile,
            },
            cgroup,
            grace_ms: millis(if self.terminal.is_some() { SHELL_GRACE } else { self.config.grace }),
            terminal: self.terminal.clone(),
            alone: false,
        }
    }
}

/// The worker's own folder is the server's, so that no worker can forge its record; what it may write lies
/// below.
pub(crate) fn folders(worker: &LocalWorker, user: Option<u32>) -> io::Result<()> {
    let folder = Path::new(&worker.folder);
    make_all(folder, ENTERED)?;
    if user.is_some() {
        std::os::unix::fs::chown(folder, None, user)?;
    }
    let named = ["HOME", "TMPDIR"].iter().filter_map(|name| worker.env.get(*name)).chain([&worker.cwd]);
    for path in named.map(Path::new).filter(|path| path.starts_with(folder) && *path != folder) {
        make_owned(path, user)?;
    }
    let outputs = Path::new(&worker.outputs_file);
    if outputs.starts_with(folder) {
        OpenOptions::new().create(true).append(true).mode(0o640).open(outputs)?;
        give(outputs, user)?;
    }
    worker.files.iter().try_for_each(|(name, content)| file(folder, name, content, user))
}

fn file(folder: &Path, name: &str, content: &str, user: Option<u32>) -> io::Result<()> {
    let path = Path::new(name);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` leads out of the folder")));
    }
    let path = folder.join(path);
    if let Some(parent) = path.parent().filter(|parent| *parent != folder) {
        make_owned(parent, user)?;
    }
    fs::write(&path, content)?;
    give(&path, user)
}

/// Adds what no description of a worker holds: the attempt's token, and the secrets that were provided.
pub(crate) fn tell(
    env: &mut BTreeMap<String, String>,
    worker: &LocalWorker,
    token: &str,
    provided: Vec<(String, String)>,
) {
    env.insert(TOKEN_VARIABLE.into(), token.into());
    if worker.secrets.iter().any(|secret| secret.file.is_some()) {
        env.insert(SECRETS_VARIABLE.into(), format!("{}/{}", worker.folder, secrets::FOLDER));
    }
    env.extend(provided);
}

/// Makes the attempt's own folder.
pub(crate) fn attempt_folder(attempt: &Path) -> io::Result<()> {
    make_all(attempt, crate::folders::PASSABLE).map(|_| ())
}

/// Removes what only running workers need.
pub(crate) fn remove_scratch(worker: &Path) {
    hit("local.cleanup.before");
    for name in SCRATCH {
        let _ = fs::remove_dir_all(worker.join(name));
    }
    hit("local.cleanup.after");
}

/// Makes a folder of the project's, which lies below `workspace`, with all that lies between. Links are not followed:
/// the project's own workers can have put some there.
pub(crate) fn project_folder(workspace: &Path, path: &Path, user: Option<u32>) -> io::Result<()> {
    let Ok(inside) = path.strip_prefix(workspace) else { return make_owned(path, user) };
    let mut folder = open_folder(&rustix::fs::CWD, workspace)?;
    for part in inside {
        match rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(OWN)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        folder = open_folder(&folder, part)?;
        if let Some(user) = user.filter(|_| !is_given_folder(&folder)) {
            let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
            rustix::fs::fchown(&folder, Some(uid), Some(gid))?;
        }
    }
    Ok(())
}

fn open_folder(above: &impl AsFd, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(above, name, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    #[test]
    fn folders_are_given_also_below_those_that_pass_their_group_on() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let workspace = tempfile::tempdir().unwrap();
        let shared = workspace.path().join("runs");
        fs::create_dir(&shared).unwrap();
        // As for workers on Kubernetes.
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o2775)).unwrap();
        let run = shared.join("run");
        project_folder(workspace.path(), &run, Some(61_001)).unwrap();
        let found = fs::metadata(&run).unwrap();
        assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (61_001, 61_001, 0o2750));
    }
}
