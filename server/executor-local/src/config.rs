//! Configuration of the local executor.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::job::DEFAULT_GRACE;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::vault::Vault;
use serde::{Deserialize, Serialize};

/// Default limit of processes and threads per worker.
pub(crate) const PIDS: u64 = 4_096;
/// Default limit of open files per worker.
pub(crate) const NOFILE: u64 = 65_536;

/// Default size limit of each log of a worker, in bytes.
pub(crate) const LOG: u64 = 1 << 30;

#[derive(Clone, Debug)]
pub struct LocalConfig {
    /// The data folder, absolute.
    pub data: PathBuf,
    /// The `cubeloom` binary, which workers may run.
    pub bin: PathBuf,
    /// The shim's binary. Each worker has one: it should be small.
    pub shim: PathBuf,
    /// Resources for jobs; `None`: all cores, and 90 % of the memory.
    pub capacity: Option<Amount>,
    /// When run as root, a project's workers get this uid plus the project's number.
    pub uid_base: u32,
    /// Default time between TERM and KILL.
    pub grace: Duration,
    /// Secrets of projects and users; they override the ones below.
    pub vault: Option<Arc<dyn Vault>>,
    /// Secrets that every task may use.
    pub secrets: BTreeMap<String, SecretSource>,
    /// Folders that tasks may use as volumes.
    pub volumes: BTreeMap<String, PathBuf>,
    /// The workers' `PATH`; interpreters are searched in it too.
    pub path: String,
    /// Limit of processes and threads per worker (with control groups only).
    pub pids: u64,
    /// Limit of open files per worker.
    pub nofile: u64,
    /// Free bytes on the data folder's disk below which no new attempt starts; `None`: a twentieth of the
    /// disk, at most 2 GiB.
    pub free: Option<u64>,
    /// Maximum bytes of a worker's log, per stream; the log keeps its beginning. 0 is no limit.
    pub log: u64,
    /// Maximum bytes in the folder of one attempt; `None`: half of the disk; 0 is no limit.
    pub run_disk: Option<u64>,
    /// Bytes in a project's workspace above which nothing new of it starts; 0 is no limit.
    pub workspace: u64,
    /// Pause between two measurements of these.
    pub measured_every: Duration,
    /// Environment variables of the shims themselves, e.g. the crash test's.
    pub shim_env: BTreeMap<String, String>,
    /// Environment variables of Python package installers. These run code of packages: no secret belongs
    /// here.
    pub installer_env: BTreeMap<String, String>,
    /// Whether to build Python packages without a wheel from source, which runs their code. The build then
    /// runs as the project, and each project has its own environments.
    pub python_sources: bool,
    /// The isolation of workers.
    pub sandbox: Sandbox,
    /// Files and folders outside the data folder that workers must not see, if workers have the server's own
    /// uid.
    pub private: Vec<PathBuf>,
    /// Debian packages that templates require, for [`crate::check()`].
    pub apt: Vec<String>,
    /// Whether to adopt workers of an earlier server. Only the crash test turns it off, to prove that it
    /// would notice.
    pub adoption: bool,
}

/// Isolation of workers. As root, the server uses mount namespaces and the kernel's filters; otherwise
/// Landlock, which supports only the first of these parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// Hide the server's folder, except the worker's own run, project, code and environment.
    pub files: bool,
    /// Hide processes of other uids.
    pub processes: bool,
    /// Hide the machine's `/tmp` and `/dev/shm`: each attempt has its own.
    pub tmp: bool,
    /// Block ports of other projects' workers on this machine.
    pub network: bool,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self { files: true, processes: true, tmp: true, network: true }
    }
}

/// The source of a secret. It is read when a worker starts, and never stored.
#[derive(Clone, Debug)]
pub enum SecretSource {
    /// The value itself, from the server's configuration or environment.
    Value(String),
    /// A file that the server can read.
    File(PathBuf),
}

/// Whether an environment variable of the server is for Python package installers: locations of programs,
/// packages, proxies and certificates.
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
    /// Default settings for a data folder and a shim. Workers have no other program until `bin` is set.
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
