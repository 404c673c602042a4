//! What the executor for this machine is told.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::job::DEFAULT_GRACE;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::vault::Vault;

/// Processes and threads of one worker, at most, where nothing else is configured.
pub(crate) const PIDS: u64 = 16_384;
/// Open files of one worker, at most, where nothing else is configured.
pub(crate) const NOFILE: u64 = 65_536;

/// The settings of [`crate::LocalExecutor`].
#[derive(Clone, Debug)]
pub struct LocalConfig {
    /// The data folder, absolute.
    pub data: PathBuf,
    /// The program that is started as the shim, `<bin> __shim <folder>`.
    pub bin: PathBuf,
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
    /// Variables of the shims themselves, e.g. the crash test's.
    pub shim_env: BTreeMap<String, String>,
    /// Debian packages that templates ask for, for [`crate::check()`].
    pub apt: Vec<String>,
    /// Whether workers that an earlier server started are taken up. Only the crash test turns it off, to show
    /// that it notices.
    pub adoption: bool,
}

/// Where a secret comes from. It is read when a worker starts, and never kept.
#[derive(Clone, Debug)]
pub enum SecretSource {
    /// The value itself, from the server's configuration or environment.
    Value(String),
    /// A file that the server may read.
    File(PathBuf),
}

impl LocalConfig {
    /// The usual settings for a data folder and a shim.
    #[must_use]
    pub fn new(data: impl Into<PathBuf>, bin: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            bin: bin.into(),
            capacity: None,
            uid_base: 61_000,
            grace: DEFAULT_GRACE,
            vault: None,
            secrets: BTreeMap::new(),
            volumes: BTreeMap::new(),
            path: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into(),
            pids: PIDS,
            nofile: NOFILE,
            shim_env: BTreeMap::new(),
            apt: Vec::new(),
            adoption: true,
        }
    }
}
