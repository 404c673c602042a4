//! uv, which builds the environments: from the server's PATH, or installed from PyPI once.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use cubeloom_files::own;
use tokio::process::Command;

use super::maker::{Confined, Maker};
use super::{Pythons, probe};
use crate::cgroup::Cgroup;
use crate::error::reason;
use crate::folders::aside;
use crate::spec::Limits;

/// The version to install if there is none.
pub(crate) const UV_VERSION: &str = "0.13.9";
/// How many of uv's last lines an error contains.
const LAST_LINES: usize = 12;

/// A run of uv for one environment.
pub(super) struct Uv<'a> {
    pub(super) program: PathBuf,
    pub(super) maker: &'a Maker,
    pub(super) limits: Limits,
    /// The environment's lock.
    pub(super) lock: &'a File,
}

/// An existing uv: on the PATH, or installed before.
pub(crate) fn find(data: &Path) -> Option<PathBuf> {
    let works = |uv: &Path| {
        let mut command = std::process::Command::new(uv);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    [PathBuf::from("uv"), data.join("tools/uv/bin/uv")].into_iter().find(|uv| works(uv))
}

impl Pythons {
    /// A working uv, installed if there is none.
    pub(super) async fn uv(&self) -> Result<PathBuf, String> {
        if let Some(uv) = self.found_uv().await {
            return Ok(uv);
        }
        let _one = self.bringing.lock().await;
        match self.found_uv().await {
            Some(uv) => Ok(uv),
            None => self.bring_uv().await,
        }
    }

    async fn found_uv(&self) -> Option<PathBuf> {
        let data = self.data.clone();
        tokio::task::spawn_blocking(move || find(&data)).await.ok().flatten()
    }

    /// Installs uv below the data folder.
    async fn bring_uv(&self) -> Result<PathBuf, String> {
        let search = self.search.clone();
        let python = tokio::task::spawn_blocking(move || probe("python3", &search, None))
            .await
            .map_err(|error| error.to_string())??;
        let place = self.data.join("tools/uv");
        let staging = aside(&place);
        let _ = own::remove_dir_all(&staging);
        let package = format!("uv=={UV_VERSION}");
        let mut venv = Command::new(&python.path);
        venv.env_clear().envs(&self.env);
        let venv = venv.args(["-m", "venv"]).arg(&staging).stdin(Stdio::null());
        run(venv, "python3 -m venv", None, None)
            .await
            .map_err(|error| format!("{error}\n(on Debian: apt-get install python3-venv)"))?;
        let mut pip = Command::new(staging.join("bin/python"));
        pip.env_clear().envs(&self.env).env("HOME", &staging);
        let pip = pip.args(["-m", "pip", "install", "--quiet", "--only-binary", ":all:", &package]);
        let pip = pip.stdin(Stdio::null());
        run(pip, "pip install uv", None, None).await?;
        if let Err(error) = own::rename(&staging, &place) {
            let _ = own::remove_dir_all(&staging);
            if !place.exists() {
                return Err(format!("{} cannot be created: {}", place.display(), reason(&error)));
            }
        }
        Ok(place.join("bin/uv"))
    }

    /// Runs uv as the environment's builder. uv inherits the environment's lock. If the server dies, the next
    /// one waits for this uv to end before it starts over in the same folder.
    pub(super) async fn run_uv(&self, uv: &Uv<'_>, arguments: &[String]) -> Result<(), String> {
        let lock = uv.lock.try_clone().map_err(|error| reason(&error))?;
        let cache = &uv.maker.cache;
        let mut command = Command::new(&uv.program);
        command
            .args(arguments)
            .current_dir(cache)
            .env_clear()
            .envs(&self.env)
            .env("UV_CACHE_DIR", cache.join("cache"))
            .env("UV_PYTHON_DOWNLOADS", "never")
            .env("UV_NO_PROGRESS", "1")
            .env("HOME", cache);
        run(command.stdin(lock), "uv", uv.maker.user, self.confinement(uv.limits)).await
    }
}

async fn run(
    command: &mut Command,
    what: &str,
    user: Option<u32>,
    cgroup: Option<(Cgroup, Limits)>,
) -> Result<(), String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |why: String| format!("the Python environment could not be created: {what} {why}");
    let output = async {
        let (_confined, child) = Confined::spawn(command, user, cgroup)?;
        child.wait_with_output().await
    };
    match output.await {
        Ok(Output { status, .. }) if status.success() => Ok(()),
        Ok(Output { status, stdout, stderr }) => {
            let said = if stderr.is_empty() { stdout } else { stderr };
            let said = String::from_utf8_lossy(&said);
            let lines: Vec<&str> = said.lines().collect();
            let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
            Err(failed(format!("ended with {status}:\n{last}")))
        }
        Err(error) => Err(failed(format!("cannot be run: {}", reason(&error)))),
    }
}
