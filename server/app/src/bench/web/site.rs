//! A server with data, and an engine with work.

use std::fmt::Write;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

/// Number of runs in the list.
const RUNS: usize = 50;
/// Sequential tasks of the run that keeps the engine busy: more than it can finish during the measurement.
const CHAIN: usize = 20_000;

/// A `cubeloom serve` on its own data folder, killed on drop.
pub struct Site {
    /// The address that it listens on.
    pub address: SocketAddr,
    /// An administrator's API token.
    pub token: String,
    folder: PathBuf,
    child: Child,
}

impl Site {
    pub async fn start(folder: &Path) -> anyhow::Result<Self> {
        let log = fs::File::create(folder.join("server.log"))?;
        let child = program(folder)?.arg("serve").stdout(log.try_clone()?).stderr(log).spawn()?;
        let address = "127.0.0.1:0".parse()?;
        let mut site = Self { address, token: String::new(), folder: folder.into(), child };
        site.address = site.announced().await?;
        site.call(&["user", "add", "bench", "--admin"])?;
        let said = site.call(&["token", "create", "--user", "bench", "--scope", "admin"])?;
        let token = said.split_whitespace().find(|word| word.starts_with("clt_"));
        site.token = token.with_context(|| format!("no token in `{said}`"))?.into();
        Ok(site)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Runs a small pipeline often enough for a page of the list; returns the last run.
    ///
    /// # Errors
    /// When a run fails.
    pub async fn finished_runs(&self) -> anyhow::Result<String> {
        let file = self.write("small", 3)?;
        for _ in 1..RUNS {
            self.call(&["run", &file, "--detach"])?;
        }
        let report: Value = serde_json::from_str(&self.call(&["run", &file, "--output", "json"])?)?;
        Ok(report["run"]["id"].as_str().context("no run")?.into())
    }

    /// Starts a run that takes minutes; returns its id.
    pub fn keep_busy(&self) -> anyhow::Result<String> {
        let file = self.write("busy", CHAIN)?;
        self.call(&["run", &file, "--detach"])?;
        Ok("latest".into())
    }

    /// Stops a run, and waits for its end.
    ///
    /// # Errors
    /// When it has already ended: the measurement was then not with a busy engine.
    pub fn stop_run(&self, run: &str) -> anyhow::Result<()> {
        let status = program(&self.folder)?.args(["cancel", run]).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "the background run of the web measurement ended too early");
        Ok(())
    }

    /// A chain of no-op tasks.
    fn write(&self, name: &str, tasks: usize) -> anyhow::Result<String> {
        let mut text = format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: {name}\ntasks:\n");
        for task in 0..tasks {
            let needs = if task == 0 { String::new() } else { format!(", needs: [t{}]", task - 1) };
            let arguments = "template: command, arguments: {command: ['true']}";
            writeln!(text, "  - {{name: t{task}, {arguments}{needs}}}")?;
        }
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("pipeline.yaml"), text)?;
        Ok(folder.join("pipeline.yaml").display().to_string())
    }

    fn call(&self, words: &[&str]) -> anyhow::Result<String> {
        let output = program(&self.folder)?.args(words).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cubeloom {} ended with {}: {said}", words.join(" "), output.status);
        Ok(String::from_utf8(output.stdout)?)
    }

    async fn announced(&mut self) -> anyhow::Result<SocketAddr> {
        let file = self.folder.join("data/server.json");
        let deadline = Instant::now() + Duration::from_secs(30);
        while Instant::now() < deadline {
            let said: Option<Value> =
                fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok());
            if let Some(listen) = said.as_ref().and_then(|said| said["listen"].as_str()) {
                return Ok(listen.parse()?);
            }
            if let Some(status) = self.child.try_wait()? {
                bail!(
                    "the server ended with {status}: {}",
                    fs::read_to_string(self.folder.join("server.log"))?
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        bail!("the server did not print its address")
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// This program, with the site's data folder.
fn program(folder: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env("CUBELOOM_DATA", folder.join("data")).env("CUBELOOM_SERVER_LISTEN", "127.0.0.1:0");
    // One client sends all requests here: the limits apply, but are not reached.
    command.env("CUBELOOM_SERVER_RATE", "100000").env("CUBELOOM_SERVER_STREAMS", "100000");
    command.env("CUBELOOM_SERVER_CONNECTIONS", "100000").stdin(Stdio::null());
    Ok(command)
}
