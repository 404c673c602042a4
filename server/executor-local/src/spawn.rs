//! Starts one worker: its folder, its order, its shim.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::failpoint::hit;
use cubeloom_domain::lowered::LocalWorker;
use cubeloom_files::own;
use rustix::fs::OFlags;

use crate::attempt::millis;
use crate::error::reason;
use crate::folders::{ENTERED, make_all, make_below, open_below};
use crate::machine::Machine;
use crate::python::Toolchain;
use crate::sandbox;
use crate::secrets::{self, Values};
use crate::spares::Spawned;
use crate::spec::{Limits, ShimSpec, TerminalSpec, View};

/// Scratch folders below a worker's own, removed when the attempt has ended.
pub(crate) const SCRATCH: [&str; 2] = ["work", secrets::FOLDER];
/// The variable with the token by which the workers of one attempt authenticate to each other.
const TOKEN_VARIABLE: &str = "CUBELOOM_JOB_TOKEN";
/// The variable with the folder of a worker's secret files.
const SECRETS_VARIABLE: &str = "CUBELOOM_SECRETS";

/// Grace period of programs in a terminal after its hangup.
const SHELL_GRACE: Duration = Duration::from_secs(1);

/// Values shared by all workers of an attempt.
pub(crate) struct Launch<'a> {
    pub(crate) machine: &'a Machine,
    /// The workers' project.
    pub(crate) project: &'a str,
    /// The parent of the workers' folders.
    pub(crate) dir: &'a Path,
    /// The workers' uid and gid.
    pub(crate) user: Option<u32>,
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) token: &'a str,
    pub(crate) secrets: &'a Values,
    pub(crate) stop_file: PathBuf,
    pub(crate) key: &'a AttemptKey,
    /// The worker's terminal, if it is an interactive shell.
    pub(crate) terminal: Option<TerminalSpec>,
    /// The workers' view of the machine; `None` hides nothing.
    pub(crate) view: Option<View>,
}

impl Launch<'_> {
    /// Starts the shim of one worker.
    ///
    /// # Errors
    /// A sentence why it could not start. Nothing of it runs then.
    pub(crate) fn worker(
        &self,
        worker: &LocalWorker,
        cgroup: Option<crate::cgroup::Cgroup>,
    ) -> Result<Spawned, String> {
        hit("local.submit.folders");
        folders(worker, self.user).map_err(|error| {
            format!("the folder {} of {} cannot be created: {}", worker.folder, worker.name, reason(&error))
        })?;
        let provided = self.secrets.provide(&worker.secrets, Path::new(&worker.folder), self.user)?;
        let order = self.order(worker, provided, cgroup);
        let text = serde_json::to_vec(&order).map_err(|error| error.to_string())?;
        let Machine { spares, config, notes, .. } = self.machine;
        spares.order(config, notes, &text).map_err(|error| {
            format!("its shim {} cannot be started: {}", config.shim.display(), reason(&error))
        })
    }

    fn order(
        &self,
        worker: &LocalWorker,
        provided: Vec<(String, String)>,
        cgroup: Option<crate::cgroup::Cgroup>,
    ) -> ShimSpec {
        let mut env = worker.env.clone();
        env.entry("PATH".into()).or_insert_with(|| self.machine.config.path.clone());
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
                cpu_most_millis: worker.cpu_limit.map_or(0, |limit| limit.0),
                memory: worker.memory.0,
                pids: self.machine.config.pids,
                nofile: self.machine.config.nofile,
                log: self.machine.config.log,
            },
            view: self.view.clone(),
            fence: sandbox::fence(self.machine, self.project, worker, self.dir),
            cgroup,
            grace_ms: millis(if self.terminal.is_some() { SHELL_GRACE } else { self.machine.config.grace }),
            terminal: self.terminal.clone(),
            alone: false,
        }
    }
}

/// The server owns the worker's folder, so that no worker can forge its record; writable folders are below.
pub(crate) fn folders(worker: &LocalWorker, user: Option<u32>) -> io::Result<()> {
    let folder = Path::new(&worker.folder);
    make_all(folder, ENTERED)?;
    if user.is_some() {
        own::chown(folder, None, user)?;
    }
    let named = ["HOME", "TMPDIR"].iter().filter_map(|name| worker.env.get(*name)).chain([&worker.cwd]);
    // Often these are all the same folder.
    let named: BTreeSet<&Path> = named.map(Path::new).collect();
    for path in named.into_iter().filter(|path| path.starts_with(folder) && *path != folder) {
        make_below(folder, path, user)?;
    }
    let outputs = Path::new(&worker.outputs_file);
    if outputs.starts_with(folder) {
        open_below(folder, outputs, OFlags::APPEND, user)?;
    }
    worker.files.iter().try_for_each(|(name, content)| {
        let mut file = open_below(folder, &folder.join(name), OFlags::EXCL, user)?;
        file.write_all(content.as_bytes())
    })
}

/// Adds the variables that are in no description of a worker: the attempt's token, and its secrets.
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

/// Creates the attempt's folder.
pub(crate) fn attempt_folder(attempt: &Path) -> io::Result<()> {
    make_all(attempt, crate::folders::PASSABLE).map(|_| ())
}

/// Removes files that only running workers need.
pub(crate) fn remove_scratch(worker: &Path) {
    hit("local.cleanup.before");
    for name in SCRATCH {
        let _ = own::remove_dir_all(worker.join(name));
    }
    hit("local.cleanup.after");
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use cubeloom_domain::outcome::WorkerName;
    use cubeloom_domain::{Bytes, Cpu};
    use proptest::prelude::*;

    use super::*;

    fn worker(folder: &Path, home: &str, temporary: &str, file: &str) -> LocalWorker {
        LocalWorker {
            name: WorkerName { role: "worker".into(), index: 0 },
            rank: 0,
            folder: folder.display().to_string(),
            cwd: folder.join("work").display().to_string(),
            argv: vec!["true".into()],
            setup: Vec::new(),
            env: [("HOME".to_owned(), home.to_owned()), ("TMPDIR".to_owned(), temporary.to_owned())].into(),
            secrets: Vec::new(),
            files: [(file.to_owned(), "written".to_owned())].into(),
            cpu: Cpu(100),
            cpu_limit: None,
            cpu_exclusive: false,
            memory: Bytes(1 << 20),
            shm: None,
            outputs_file: folder.join("outputs.jsonl").display().to_string(),
        }
    }

    /// Every entry of a folder except `except`: path, owner, group, mode and content.
    fn all(folder: &Path, except: &Path) -> Vec<(PathBuf, u32, u32, u32, Vec<u8>)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path == except {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            let content = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            found.push((path.clone(), meta.uid(), meta.gid(), meta.mode(), content));
            if meta.is_dir() {
                found.extend(all(&path, except));
            }
        }
        found.sort();
        found
    }

    fn path() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "..", ".", "", "work", "new", "keys", "sealing", "link", "other", "file",
        ]);
        let begin = prop::sample::select(vec!["<worker>/", "<data>/", "", "/"]);
        (begin, prop::collection::vec(part, 0..7))
            .prop_map(|(begin, parts)| begin.to_owned() + &parts.join("/"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn whatever_a_document_names_nothing_beside_the_workers_folder_changes(
            home in path(), temporary in path(), file in path()
        ) {
            let data = tempfile::tempdir().unwrap();
            for name in ["keys", "other/work", "worker/work"] {
                fs::create_dir_all(data.path().join(name)).unwrap();
            }
            let keys = data.path().join("keys");
            fs::set_permissions(&keys, fs::Permissions::from_mode(0o700)).unwrap();
            fs::write(keys.join("sealing"), "kept").unwrap();
            fs::set_permissions(keys.join("sealing"), fs::Permissions::from_mode(0o600)).unwrap();
            let folder = data.path().join("worker");
            symlink(&keys, folder.join("work/link")).unwrap();
            symlink("../keys", folder.join("link")).unwrap();
            let before = all(data.path(), &folder);
            let fill = |text: &str| {
                let text = text.replace("<worker>", &folder.display().to_string());
                text.replace("<data>", &data.path().display().to_string())
            };
            let named = worker(&folder, &fill(&home), &fill(&temporary), &fill(&file));
            let user = rustix::process::geteuid().is_root().then_some(61_000);
            let _ = folders(&named, user);
            prop_assert_eq!(all(data.path(), &folder), before);
            prop_assert!(!Path::new("/new").exists() && !Path::new("/other").exists());
        }
    }
}
