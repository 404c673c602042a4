//! A server's executor with its own folder and runtime, so that it can be ended like a server.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use cubeloom_domain::clock::Clock;
use cubeloom_domain::executor::{Executor, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::{Bindings, Lowered};
use cubeloom_domain::{AttemptKey, RunId};
use cubeloom_executor_local::{LocalConfig, LocalExecutor, is_for_installers};
use cubeloom_testkit::clock::SystemClock;
use cubeloom_testkit::conformance::scaling::ScalingHarness;
use cubeloom_testkit::conformance::{Harness, Program, Recorder, Server, processes_with, random};

use crate::lower::lower;

/// The local executor under test.
pub struct Local {
    folder: Folder,
    config: LocalConfig,
    server: Server<LocalExecutor>,
}

/// A folder that workers can reach.
enum Folder {
    /// The test removes it.
    Lent(PathBuf),
    Plain(tempfile::TempDir),
    /// A separate file system.
    Mounted(tempfile::TempDir),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Self::Lent(folder) => folder,
            Self::Plain(folder) | Self::Mounted(folder) => folder.path(),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Self::Mounted(folder) = self {
            let _ = Command::new("umount").arg("--lazy").arg(folder.path()).status();
        }
    }
}

fn start(config: &LocalConfig) -> Server<LocalExecutor> {
    Server::start(|| LocalExecutor::new(config.clone(), Arc::new(SystemClock)).unwrap())
}

/// A folder that any user can enter.
pub fn reachable_folder() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("cubeloom-").tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

impl Local {
    /// With a new folder.
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// With other settings.
    pub fn with(change: impl FnOnce(&mut LocalConfig)) -> Self {
        Self::on(Folder::Plain(reachable_folder()), change)
    }

    /// With the folder of an earlier server.
    pub fn in_folder(folder: &Path, change: impl FnOnce(&mut LocalConfig)) -> Self {
        Self::on(Folder::Lent(folder.into()), change)
    }

    fn on(folder: Folder, change: impl FnOnce(&mut LocalConfig)) -> Self {
        let mut config = LocalConfig::new(folder.path().join("data"), env!("CARGO_BIN_EXE_shim-under-test"));
        config.installer_env = std::env::vars().filter(|(name, _)| is_for_installers(name)).collect();
        // The ledger is there.
        config.sandbox.tmp = false;
        change(&mut config);
        let ledger = folder.path().join("ledger");
        fs::OpenOptions::new().create(true).append(true).open(&ledger).unwrap();
        fs::set_permissions(&ledger, fs::Permissions::from_mode(0o666)).unwrap();
        let server = start(&config);
        Self { folder, config, server }
    }

    /// On a file system of 1 MiB; `None` if mounting is not permitted.
    pub fn on_small_disk() -> Option<Self> {
        let folder = reachable_folder();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs"])
            .arg(folder.path())
            .stderr(std::process::Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then(|| Self::on(Folder::Mounted(folder), |_| {}))
    }

    /// The executor itself, for use on the caller's runtime.
    pub fn local(&self) -> &LocalExecutor {
        self.server.inner()
    }

    pub fn data(&self) -> &Path {
        &self.config.data
    }

    pub fn attempt(&self, key: &AttemptKey) -> PathBuf {
        let name = format!("{}.{}.{}", key.task, key.instance, key.n);
        self.config.data.join("runs").join(key.run.as_str()).join(name)
    }

    /// A submission of a handcrafted job.
    pub fn submission_of(&self, job: Job) -> Submission {
        let Ok(Bindings::Local(bindings)) = self.server.inner().bind(&job) else { panic!("no bindings") };
        let lowered = lower(&job, &bindings, &self.ledger());
        Submission { job: Arc::new(job), lowered: Arc::new(Lowered::Local(lowered)) }
    }

    /// A unique key.
    pub fn key() -> AttemptKey {
        let random = u128::from(random());
        AttemptKey { run: RunId::new(SystemClock.now(), random), task: "case".into(), instance: 0, n: 1 }
    }
}

impl ScalingHarness for Local {
    fn lowered(&self, job: Job) -> Submission {
        self.submission_of(job)
    }
}

impl Harness for Local {
    fn executor(&self) -> Arc<dyn Executor> {
        self.server.executor()
    }

    fn recorder(&self) -> Arc<Recorder> {
        self.server.recorder()
    }

    fn crash(&mut self) {
        self.server.end();
        self.server = start(&self.config);
    }

    fn submission(&self, program: &Program) -> Submission {
        self.submission_of(program.job(Self::key()))
    }

    fn ledger(&self) -> PathBuf {
        self.folder.path().join("ledger")
    }

    fn output_len(&self, key: &AttemptKey, worker: &str) -> u64 {
        fs::metadata(self.attempt(key).join(worker).join("stdout")).map_or(0, |found| found.size())
    }

    fn bounds_memory(&self) -> Result<(), &'static str> {
        Ok(())
    }

    fn alive(&self, key: &AttemptKey) -> usize {
        processes_with(&format!("CUBELOOM_ATTEMPT={key}"))
    }

    fn on_full_disk(&self) -> Result<Box<dyn Harness>, &'static str> {
        let full = Self::on_small_disk().ok_or("root is needed to mount one")?;
        let _ = fs::write(full.folder.path().join("filler"), vec![0; 2 << 20]);
        Ok(Box::new(full))
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        // Stops what a failed case left running.
        for entry in walk(&self.config.data.join("runs")) {
            let started = fs::read(entry.join("started")).unwrap_or_default();
            let started: serde_json::Value = serde_json::from_slice(&started).unwrap_or_default();
            let pid = started["pid"].as_i64().filter(|_| !entry.join("exit.json").exists());
            if let Some(pid) = pid.and_then(|pid| rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)) {
                let _ = fs::write(entry.with_file_name("stop"), r#"{"why":"cancelled","grace_ms":0}"#);
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
        }
    }
}

/// The folders of workers below `folder`.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_path_buf()];
    let mut next = 0;
    while let Some(folder) = folders.get(next).cloned() {
        next += 1;
        let below = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        folders.extend(below.filter(|path| path.is_dir() && !path.is_symlink()));
    }
    folders.retain(|folder| folder.join("started").exists());
    folders
}
