//! A server's executor for the test Slurm, on its own runtime, so that it can be stopped like a server. Jobs
//! run as the project's member; the server switches to that account to write and to submit.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cubeloom_compiler::lower::lower;
use cubeloom_domain::clock::Clock;
use cubeloom_domain::executor::{Ended, Executor, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Lowered;
use cubeloom_domain::slurm::{SlurmCalls, SlurmCards, SlurmFacts, SlurmNodeGroup, SlurmWay};
use cubeloom_domain::{AttemptKey, RunId};
use cubeloom_executor_slurm::{SlurmConfig, SlurmExecutor};
use cubeloom_testkit::clock::SystemClock;
use cubeloom_testkit::conformance::{Harness, PATIENCE, Program, Recorder, Server, processes_with, random};

use super::harness::{shared_program, told};

/// An executor whose jobs run on the test Slurm.
pub struct OnSlurm {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    config: SlurmConfig,
    server: Server<SlurmExecutor>,
    _disk: Option<SmallDisk>,
}

/// A 1 MiB file system. Dropping this unmounts it.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` if it cannot be mounted.
    fn at(place: &Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs"]).arg(place).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then(|| Self(place.into()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

fn start(config: &SlurmConfig) -> Server<SlurmExecutor> {
    Server::start(|| SlurmExecutor::new(config.clone(), Arc::new(SystemClock)))
}

/// How to call the commands of the test cluster.
pub fn calls() -> SlurmCalls {
    let words = ["setpriv", "--reuid", "{account}", "--regid", "{account}", "--init-groups", "--"];
    SlurmCalls {
        become_account: words.map(ToOwned::to_owned).into(),
        conf: Some(told("SLURM_CONF")),
        path: "/usr/local/bin:/usr/bin:/bin".into(),
        slurmrestd: None,
        every: 1,
    }
}

/// Jobs run as the member, or as the stranger for a user of that name.
pub fn way() -> SlurmWay {
    let member = told("CUBELOOM_TEST_SLURM_MEMBER");
    let stranger = told("CUBELOOM_TEST_SLURM_STRANGER");
    SlurmWay::of_accounts([("tester".to_owned(), member), ("stranger".to_owned(), stranger)].into())
}

/// The facts of the test cluster, with this workspace.
pub fn facts(workspace: &Path) -> SlurmFacts {
    let workspace = workspace.to_str().unwrap();
    let cards = SlurmNodeGroup { partition: Some("cards".into()), ..SlurmNodeGroup::default() };
    SlurmFacts {
        account: Some("vision".into()),
        qos: Some("high".into()),
        partition: Some("all".into()),
        node_groups: [("cards".to_owned(), cards)].into(),
        cards: Some(SlurmCards { types: vec!["a100".into(), "h100".into()], shards: Some(4) }),
        workspace: workspace.into(),
        templates: format!("{workspace}/.templates"),
        program: shared_program().to_str().unwrap().into(),
        env: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
        ..SlurmFacts::default()
    }
}

/// A new workspace that belongs to the member.
pub fn workspace() -> PathBuf {
    let workspace = Path::new(&told("CUBELOOM_TEST_SLURM_WORKSPACE")).join(format!("w{:x}", random()));
    fs::create_dir(&workspace).unwrap();
    give_to_member(&workspace);
    workspace
}

fn give_to_member(folder: &Path) {
    let member = told("CUBELOOM_TEST_SLURM_MEMBER");
    let mut chown = Command::new("chown");
    assert!(chown.arg(format!("{member}:{member}")).arg(folder).status().unwrap().success());
}

/// The submission with another script: `lines` inserted before the first line that begins with `before`.
pub fn with_lines(mut submission: Submission, lines: &str, before: &str) -> Submission {
    let Lowered::Slurm(lowered) = &*submission.lowered else { panic!("{:?}", submission.lowered) };
    let mut changed = lowered.clone();
    let place = format!("\n{before}");
    assert!(changed.script.contains(&place), "{}", changed.script);
    changed.script = changed.script.replacen(&place, &format!("\n{lines}{place}"), 1);
    submission.lowered = Arc::new(Lowered::Slurm(changed));
    submission
}

/// Waits for a late end: Slurm counts in minutes, and worker records may arrive a minute after its state.
pub async fn ended_late(cluster: &OnSlurm, key: &AttemptKey) -> Ended {
    let began = Instant::now();
    while cluster.recorder().ends(key) == 0 {
        assert!(began.elapsed() < PATIENCE * 3, "it goes on: {:?}", cluster.recorder().events(key));
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    cluster.recorder().ended(key).await
}

impl OnSlurm {
    /// Uses a new workspace.
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// Uses changed settings.
    pub fn with(change: impl FnOnce(&mut SlurmConfig)) -> Self {
        Self::at(workspace(), None, change)
    }

    /// Uses a full workspace.
    fn full() -> Option<Self> {
        let workspace = workspace();
        let disk = SmallDisk::at(&workspace)?;
        give_to_member(&workspace);
        let full = Self::at(workspace, Some(disk), |_| {});
        let _ = fs::write(full.workspace.join("filler"), vec![0; 2 << 20]);
        Some(full)
    }

    fn at(workspace: PathBuf, disk: Option<SmallDisk>, change: impl FnOnce(&mut SlurmConfig)) -> Self {
        let ledger = workspace.join("ledger");
        fs::write(&ledger, "").unwrap();
        fs::set_permissions(&ledger, fs::Permissions::from_mode(0o666)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut config = SlurmConfig {
            name: "slurm".into(),
            facts: facts(&workspace),
            way: way(),
            mirror: None,
            people: None,
            calls: calls(),
            data: folder.path().join("data"),
            code: folder.path().join("code"),
            vault: None,
            every: Duration::from_millis(500),
        };
        change(&mut config);
        let server = start(&config);
        Self { _folder: folder, workspace, config, server, _disk: disk }
    }

    pub fn attempt(&self, key: &AttemptKey) -> PathBuf {
        self.workspace.join(cubeloom_domain::kubernetes::attempt_folder(key))
    }

    pub fn inner(&self) -> &SlurmExecutor {
        self.server.inner()
    }

    /// A job of the program under a new key.
    pub fn job(&self, program: &Program) -> Job {
        let run = RunId::new(SystemClock.now(), random().into());
        let mut job = program.job(AttemptKey { run, task: "case".into(), instance: 0, n: 1 });
        job.env.insert("LEDGER".into(), self.ledger().to_str().unwrap().into());
        job
    }

    /// The submission of a job.
    pub fn submission_of(&self, job: Job) -> Submission {
        let bindings = self.server.inner().bind(&job).unwrap();
        let lowered = lower(&job, &bindings).unwrap();
        Submission { job: Arc::new(job), lowered: Arc::new(lowered) }
    }
}

impl Harness for OnSlurm {
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
        self.submission_of(self.job(program))
    }

    fn ledger(&self) -> PathBuf {
        self.workspace.join("ledger")
    }

    fn output_len(&self, key: &AttemptKey, worker: &str) -> u64 {
        fs::metadata(self.attempt(key).join(worker).join("stdout")).map_or(0, |found| found.size())
    }

    /// With cgroup v1, which limits memory here, the kernel kills one process of a worker, not all.
    /// `limits.rs` checks that this is reported.
    fn bounds_memory(&self) -> Result<(), &'static str> {
        let second = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        second.then_some(()).ok_or("the nodes have control groups of version 1")
    }

    fn alive(&self, key: &AttemptKey) -> usize {
        processes_with(&format!("CUBELOOM_RUN={}", key.run))
    }

    fn on_full_disk(&self) -> Result<Box<dyn Harness>, &'static str> {
        Ok(Box::new(Self::full().ok_or("root is needed to mount one")?))
    }
}
