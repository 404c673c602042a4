//! Python for workers: an interpreter that their uid can run, and cached virtual environments.

mod interpreter;
mod maker;
mod uv;
mod venv;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Mutex;

use cubeloom_domain::job::PythonEnvironment;

use crate::cgroup::Hierarchy;
use crate::config::LocalConfig;
use crate::spec::Limits;
pub(crate) use interpreter::{Interpreter, probe};
pub(crate) use uv::{UV_VERSION, find as find_uv};

/// Paths of a job's Python.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Toolchain {
    /// Prepended to `PATH`.
    pub(crate) bin: Option<PathBuf>,
    pub(crate) venv: Option<PathBuf>,
}

impl Toolchain {
    /// Sets a worker's environment variables.
    pub(crate) fn apply(&self, env: &mut BTreeMap<String, String>) {
        if let Some(bin) = &self.bin {
            let path = env.entry("PATH".into()).or_default();
            *path = format!("{}:{path}", bin.display());
        }
        if let Some(venv) = &self.venv {
            env.insert("VIRTUAL_ENV".into(), venv.display().to_string());
        }
    }
}

/// Python installations of this machine.
pub(crate) struct Pythons {
    data: PathBuf,
    search: String,
    /// The server's environment variables for installers.
    env: BTreeMap<String, String>,
    /// The shared builder of environments: a separate uid that no project has.
    builder: Option<u32>,
    /// Whether to build packages without a wheel.
    sources: bool,
    hierarchy: Hierarchy,
    probed: Mutex<HashMap<(String, Option<u32>), Interpreter>>,
    /// Held while uv is installed: concurrent environments need one uv.
    bringing: tokio::sync::Mutex<()>,
}

impl Pythons {
    pub(crate) fn new(config: &LocalConfig, hierarchy: Hierarchy) -> Self {
        let root = rustix::process::geteuid().is_root();
        Self {
            data: config.data.clone(),
            search: config.path.clone(),
            env: config.installer_env.clone(),
            builder: root.then_some(config.uid_base - 1),
            sources: config.python_sources,
            hierarchy,
            probed: Mutex::default(),
            bringing: tokio::sync::Mutex::default(),
        }
    }

    /// The Python for a job of `user`, built within `limits` if it does not exist; `tell` receives progress
    /// messages.
    ///
    /// # Errors
    /// A sentence, with the installer's last lines.
    pub(crate) async fn toolchain(
        &self,
        wanted: &PythonEnvironment,
        user: Option<u32>,
        limits: Limits,
        tell: impl Fn(String),
    ) -> Result<Toolchain, String> {
        let interpreter = self.interpreter(&wanted.interpreter, user).await?;
        if wanted.requirements.is_empty() {
            let bin = interpreter.link(&self.data).map_err(|error| {
                format!("the interpreter {} cannot be linked: {error}", interpreter.path.display())
            })?;
            return Ok(Toolchain { bin: Some(bin), venv: None });
        }
        let venv = self.venv(wanted, &interpreter, user, limits, tell).await?;
        Ok(Toolchain { bin: Some(venv.join("bin")), venv: Some(venv) })
    }

    /// The interpreter called `name` that `user` can run, probed once.
    async fn interpreter(&self, name: &str, user: Option<u32>) -> Result<Interpreter, String> {
        let key = (name.to_owned(), user);
        let known = self.probed.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let (search, wanted) = (self.search.clone(), name.to_owned());
        let probed = tokio::task::spawn_blocking(move || probe(&wanted, &search, user)).await;
        let found = probed.map_err(|error| error.to_string())??;
        self.probed.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(key, found.clone());
        Ok(found)
    }
}
