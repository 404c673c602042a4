//! A server's executor for the cluster named in the environment, on its own runtime, so that it can be
//! stopped like a server.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_compiler::lower::lower;
use cubeloom_domain::clock::Clock;
use cubeloom_domain::clusters::Standing;
use cubeloom_domain::executor::{BoxFuture, Executor, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::{AttemptKey, Bytes, Cpu, RunId};
use cubeloom_executor_kubernetes::{Access, KubernetesConfig, KubernetesExecutor, Owners};
use cubeloom_testkit::clock::SystemClock;
use cubeloom_testkit::conformance::scaling::ScalingHarness;
use cubeloom_testkit::conformance::{Harness, PATIENCE, Program, Recorder, Server, processes_with, random};
use kube::api::ListParams;
use tokio::time::{sleep, timeout};

use super::kubectl::Kubectl;
use super::metrics::{self, Metrics};
use super::product::until;

/// The image to which every template's image resolves on the test node.
const IMAGE: &str = "ghcr.io/cubeloom/command:1.0.0";
/// Enough for light programs, and small enough for many pods on one node.
const SMALL: Cpu = Cpu(20);
/// Enough to allocate memory as fast as a test needs.
const BUSY: Cpu = Cpu(200);
/// Where pods mount the project's workspace.
const WORKSPACE: &str = "/cubeloom/workspace";

/// An executor whose pods run on the real node.
pub struct OnNode {
    folder: tempfile::TempDir,
    /// The claim's folder on this machine.
    claim: PathBuf,
    /// This test's workspace, as a folder of the claim.
    workspace: String,
    config: KubernetesConfig,
    server: Server<KubernetesExecutor>,
    /// The CPU request of a worker.
    cpu: Cpu,
    /// Whether a job of one worker becomes a bare Pod.
    is_bare: bool,
    /// The mock metrics API, if used.
    metrics: Option<Metrics>,
}

/// Starts a server that has discovered the cluster's installed APIs, which determine what a job becomes.
pub fn start(config: &KubernetesConfig) -> Server<KubernetesExecutor> {
    let server = Server::start(|| KubernetesExecutor::new(config.clone(), Arc::new(SystemClock)));
    let known = || server.inner().facts().kubernetes.is_some_and(|facts| facts.volcano.is_some());
    while !known() {
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}

/// The cluster named in the environment, with the server's files in this folder.
pub fn config(folder: &Path) -> KubernetesConfig {
    let kubeconfig = fs::read_to_string(told("KUBECONFIG")).unwrap();
    KubernetesConfig {
        name: "node".into(),
        access: Access::Kubeconfig { text: kubeconfig, context: None },
        facts: KubernetesFacts::default(),
        data: folder.join("data"),
        workspace: folder.join("workspace"),
        code: folder.join("code"),
        owners: Owners::default(),
        vault: None,
        cards: None,
        pods: None,
        keeps: None,
        keep: Duration::from_secs(600),
        patience: Duration::from_secs(20),
    }
}

/// Gives a job the test image and requests small enough for many pods on one node.
pub fn small(job: &mut Job) {
    job.image = Some(IMAGE.into());
    for role in &mut job.roles {
        role.resources.cpu = SMALL;
    }
}

/// A variable that describes the cluster.
#[allow(clippy::disallowed_methods, reason = "who brings the cluster up says where it is")]
pub fn told(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!("{name} is not set: run this with `tests/cluster/up --node -- ...`, or `make test-cluster`")
    })
}

impl OnNode {
    /// Uses new folders.
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// Uses another kubeconfig.
    pub fn by(kubeconfig: String) -> Self {
        Self::with(|config| config.access = Access::Kubeconfig { text: kubeconfig, context: None })
    }

    /// Uses changed settings.
    pub fn with(change: impl FnOnce(&mut KubernetesConfig)) -> Self {
        let claim = PathBuf::from(told("CUBELOOM_TEST_WORKSPACE"));
        let folder = tempfile::tempdir().unwrap();
        let workspace = format!("w{:x}", random());
        let mut config = config(folder.path());
        config.facts.namespace = told("CUBELOOM_TEST_NAMESPACE");
        config.facts.workspace_path = format!("{workspace}/{{project}}");
        config.workspace = claim.join(&workspace);
        change(&mut config);
        let own = claim.join(&workspace).join("conformance");
        fs::create_dir_all(&own).unwrap();
        let ledger = own.join("ledger");
        fs::write(&ledger, "").unwrap();
        fs::set_permissions(&ledger, fs::Permissions::from_mode(0o666)).unwrap();
        let server = start(&config);
        Self { folder, claim, workspace, config, server, cpu: SMALL, is_bare: false, metrics: None }
    }

    /// Jobs of one worker become bare Pods, the most common workload of cluster users.
    pub fn bare() -> Self {
        Self { is_bare: true, ..Self::new() }
    }

    /// The cluster reports the usage of pods and can grow their memory in place.
    pub fn measured() -> Self {
        let metrics = Metrics::new();
        metrics.follow(told("CUBELOOM_TEST_NAMESPACE"));
        let mut node = Self::new();
        (node.cpu, node.metrics) = (BUSY, Some(metrics));
        let measures = || {
            let facts = node.server.inner().facts().kubernetes;
            facts.is_some_and(|facts| facts.kinds.contains_key("pods.metrics.k8s.io/v1beta1"))
        };
        until("the cluster says what pods use", measures);
        until("the cluster gives them more", || node.server.inner().growth().is_some());
        node
    }

    /// The log of a worker.
    pub fn log(&self, key: &AttemptKey, worker: &str) -> String {
        fs::read_to_string(self.worker(key, worker).join("stdout")).unwrap_or_default()
    }

    fn worker(&self, key: &AttemptKey, worker: &str) -> PathBuf {
        let attempt = format!("{}.{}.{}", key.task, key.instance, key.n);
        self.folder.path().join("data/runs").join(key.run.as_str()).join(attempt).join(worker)
    }

    /// The cluster's state, as shown on its page.
    pub fn standing(&self) -> Standing {
        self.server.inner().standing()
    }

    fn own(&self) -> PathBuf {
        self.claim.join(&self.workspace).join("conformance")
    }

    /// The submission of a job.
    pub fn submission_of(&self, job: Job) -> Submission {
        let bindings = self.server.inner().bind(&job).unwrap();
        let lowered = lower(&job, &bindings).unwrap();
        Submission { job: Arc::new(job), lowered: Arc::new(lowered) }
    }

    /// A job of the program, small enough for many of its pods on one node.
    pub fn job(&self, program: &Program) -> Job {
        let run = RunId::new(SystemClock.now(), random().into());
        let mut job = program.job(AttemptKey { run, task: "case".into(), instance: 0, n: 1 });
        small(&mut job);
        if self.is_bare && job.workers() == 1 {
            job.framework = "single".into();
        }
        job.roles.iter_mut().for_each(|role| role.resources.cpu = self.cpu);
        job.env.insert("LEDGER".into(), format!("{WORKSPACE}/ledger"));
        job
    }
}

impl ScalingHarness for OnNode {
    fn lowered(&self, job: Job) -> Submission {
        self.submission_of(job)
    }

    /// The kubelet applies it some time after the API server has accepted it.
    fn given<'a>(&'a self, key: &'a AttemptKey, memory: Bytes) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let pods = metrics::pods(&Kubectl::new().await, &told("CUBELOOM_TEST_NAMESPACE"));
            let its = ListParams::default().labels(&format!("cubeloom/job={}", key.object_name()));
            let have_it = async {
                while pods.list(&its).await.unwrap().iter().any(|pod| metrics::limit(pod) != Some(memory)) {
                    sleep(Duration::from_millis(100)).await;
                }
            };
            timeout(PATIENCE, have_it).await.unwrap_or_else(|_| panic!("{key}: {memory} were not given"));
        })
    }
}

impl Harness for OnNode {
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
        self.own().join("ledger")
    }

    fn seen_by_workers(&self, path: &Path) -> PathBuf {
        Path::new(WORKSPACE).join(path.strip_prefix(self.own()).unwrap())
    }

    fn output_len(&self, key: &AttemptKey, worker: &str) -> u64 {
        fs::metadata(self.worker(key, worker).join("stdout")).map_or(0, |found| found.size())
    }

    /// With cgroup v1, the kernel kills one process of a container, not all.
    fn bounds_memory(&self) -> Result<(), &'static str> {
        let second = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        second.then_some(()).ok_or("the node has control groups of version 1")
    }

    fn measures_usage(&self) -> bool {
        false
    }

    fn alive(&self, key: &AttemptKey) -> usize {
        processes_with(&format!("CUBELOOM_RUN={}", key.run))
    }

    fn on_full_disk(&self) -> Result<Box<dyn Harness>, &'static str> {
        Err("the node's disk is this machine's")
    }
}
