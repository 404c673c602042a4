//! What the executor for this machine is told.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::job::DEFAULT_GRACE;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::vault::Vault;
use serde::{Deserialize, Serialize};

/// Processes and threads of one worker, at most, where nothing else is configured.
pub(crate) const PIDS: u64 = 4_096;
/// Open files of one worker, at most, where nothing else is configured.
pub(crate) const NOFILE: u64 = 65_536;

/// Bytes of each of a worker's logs, where nothing else is configured.
pub(crate) const LOG: u64 = 1 << 30;

/// The settings of [`crate::LocalExecutor`].
#[derive(Clone, Debug)]
pub struct LocalConfig {
    /// The data folder, absolute.
    pub data: PathBuf,
    /// The program `cubeloom`, which workers may start.
    pub bin: PathBuf,
    /// The program of the shims. Each worker has one: it should be small.
    pub shim: PathBuf,
    /// What jobs may use; `None`: all cores, and 90 % of the memory.
    pub capacity: Option<Amount>,
    /// Run as root, a project's workers get this uid plus the project's number.
    pub uid_base: u32,
    /// The time between TERM and KILL where nothing else says.
    pub grace: Duration,
    /// Where the secrets of projects and people are; those go over the ones below.
    pub vault: Option<Arc<dyn Vault>>,
    /// Secrets that every task may name.
    pub secrets: BTreeMap<String, SecretSource>,
    /// Folders that tasks may name as volumes.
    pub volumes: BTreeMap<String, PathBuf>,
    /// The workers' `PATH`; interpreters are looked for there too.
    pub path: String,
    /// Processes and threads of one worker, at most (where there are control groups).
    pub pids: u64,
    /// Open files of one worker, at most.
    pub nofile: u64,
    /// Bytes of the data folder's disk below which nothing new starts; a twentieth of it, and 2 GiB at most, when absent.
    pub free: Option<u64>,
    /// Bytes of standard output and of standard error, each, that a worker's log begins with; 0 is no limit.
    pub log: u64,
    /// Bytes that the folder of one attempt may hold; half of the disk when absent, 0 is no limit.
    pub run_disk: Option<u64>,
    /// Bytes that the workspace of one project may hold before nothing new of it starts; 0 is no limit.
    pub workspace: u64,
    /// How long these are not measured after they were.
    pub measured_every: Duration,
    /// Variables of the shims themselves, e.g. the crash test's.
    pub shim_env: BTreeMap<String, String>,
    /// Variables of the programs that install Python packages. They run what packages bring: no secret belongs here.
    pub installer_env: BTreeMap<String, String>,
    /// Whether Python packages that have no wheel are built from their sources, which runs their code: as the project then, and
    /// each project has environments of its own.
    pub python_sources: bool,
    /// What workers are kept from seeing.
    pub sandbox: Sandbox,
    /// Files and folders beside the data folder that hold what no worker may see, where workers have the server's own uid.
    pub private: Vec<PathBuf>,
    /// Debian packages that templates ask for, for [`crate::check()`].
    pub apt: Vec<String>,
    /// Whether workers that an earlier server started are taken up. Only the crash test turns it off, to show
    /// that it notices.
    pub adoption: bool,
}

/// What workers are kept from seeing: by mount namespaces and the kernel's filters where the server runs as root, else by
/// Landlock, which has the first of these parts only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// Of the server's folder, all but their own run, project, code and environment.
    pub files: bool,
    /// Processes of other uids.
    pub processes: bool,
    /// The machine's `/tmp` and `/dev/shm`: each attempt has its own.
    pub tmp: bool,
    /// Ports on this machine of other projects' workers.
    pub network: bool,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self { files: true, processes: true, tmp: true, network: true }
    }
}

/// Where a secret comes from. It is read when a worker starts, and never kept.
#[derive(Clone, Debug)]
pub enum SecretSource {
    /// The value itself, from the server's configuration or environment.
    Value(String),
    /// A file that the server may read.
    File(PathBuf),
}

/// Whether one of the server's variables is for the programs that install Python packages: where programs, packages,
/// proxies and certificates are.
#[must_use]
pub fn is_for_installers(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "PATH",
        "LANG",
        "TZ",
        "TMPDIR",
        "NETRC",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
    ];
    let is_of_tool = ["UV_", "PIP_", "LC_"].iter().any(|start| name.starts_with(start));
    NAMES.contains(&name)
        || (is_of_tool && !name.starts_with("UV_PUBLISH_"))
        || name.to_ascii_lowercase().ends_with("_proxy")
}

impl LocalConfig {
    /// The usual settings for a data folder and a shim. Workers have no other program until `bin` is set.
    #[must_use]
    pub fn new(data: impl Into<PathBuf>, shim: impl Into<PathBuf>) -> Self {
        let shim = shim.into();
        Self {
            data: data.into(),
            bin: shim.clone(),
            shim,
            capacity: None,
            uid_base: 61_000,
            grace: DEFAULT_GRACE,
            vault: None,
            secrets: BTreeMap::new(),
            volumes: BTreeMap::new(),
            path: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into(),
            pids: PIDS,
            nofile: NOFILE,
            free: None,
            log: LOG,
            run_disk: None,
            workspace: 0,
            measured_every: Duration::from_secs(5),
            shim_env: BTreeMap::new(),
            installer_env: BTreeMap::new(),
            python_sources: false,
            sandbox: Sandbox::default(),
            private: Vec::new(),
            apt: Vec::new(),
            adoption: true,
        }
    }
}
