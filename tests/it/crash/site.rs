//! A data folder with the real server on it, which can be killed and restarted.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use cubeloom_domain::RunId;
use cubeloom_domain::state::RunState;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::database::Database;
use super::document::Document;
use super::ledger::Ledger;
use crate::support::{processes, program};

const READY_WITHIN: Duration = Duration::from_secs(60);

/// Environment variables of one process.
pub type Variables<'a> = &'a [(&'a str, &'a str)];

pub struct Site {
    folder: TempDir,
    program: PathBuf,
    pub database: Database,
    /// Number of the current server; each server has its own log.
    servers: u32,
    server: Option<Child>,
    pub ledger: Ledger,
}

impl Site {
    /// Creates a site on the embedded database, unless another is named.
    pub fn new(database: Option<String>) -> Self {
        // Workers run under their own uid and must be able to enter it.
        let open = Permissions::from_mode(0o755);
        let folder = tempfile::Builder::new().prefix("crash-").permissions(open).tempdir().expect("a folder");
        let file = folder.path().join("data/db/cubeloom.sqlite");
        fs::create_dir(folder.path().join("data")).expect("a data folder");
        provide_uv(&folder.path().join("bin"));
        Self {
            database: Database { url: database.unwrap_or_else(|| format!("sqlite:{}", file.display())) },
            ledger: Ledger::create(folder.path().join("ledger")),
            program: program::cubeloom(),
            servers: 0,
            server: None,
            folder,
        }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A file beside the data folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The log of reached failpoints, in the data folder.
    pub fn failpoints(&self) -> PathBuf {
        self.data().join("failpoints")
    }

    fn command(&self, words: &[&str], variables: Variables<'_>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).arg("--data").arg(self.data());
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.beside("bin").display());
        command.env_clear().env("PATH", path).env("HOME", self.folder.path());
        command.env("CUBELOOM_SERVER_TEMPLATES", concat!(env!("CARGO_MANIFEST_DIR"), "/../task-templates"));
        command.env("CUBELOOM_DATABASE_URL", &self.database.url);
        // More concurrent workers than a small machine has CPUs: they mostly sleep.
        command.env("CUBELOOM_LOCAL_CPU", "8").env("CUBELOOM_LOCAL_MEMORY", "4Gi");
        command.env("CUBELOOM_SANDBOX_TMP", "false");
        // A repeated run requests the same amounts. Tests of right-sizing enable it themselves.
        command.env("CUBELOOM_SIZING_DEFAULT", "off");
        command.env("CUBELOOM_LOCAL_GRACE", "300ms").env("CUBELOOM_SERVER_LISTEN", "127.0.0.1:0");
        // Always set: shims that only wait keep this file open, which shows that they belong to this folder.
        command.env("CUBELOOM_FAILPOINT_LOG", self.failpoints());
        command.envs(variables.iter().copied()).stdin(Stdio::null()).current_dir("/");
        command
    }

    pub fn start(&mut self, variables: Variables<'_>) {
        assert!(self.server.is_none(), "a server runs already");
        self.servers += 1;
        let path = self.beside(&format!("server-{}.log", self.servers % 8));
        let log = OpenOptions::new().create(true).write(true).truncate(true).open(path).expect("a log");
        let mut command = self.command(&["serve"], variables);
        command.stdout(log.try_clone().expect("a log")).stderr(log);
        self.server = Some(command.spawn().expect("the server starts"));
    }

    /// Kills only the server, with SIGKILL.
    pub fn kill(&mut self) {
        let mut server = self.server.take().expect("a server");
        server.kill().expect("kill -9");
        server.wait().expect("the server's end");
    }

    /// Whether the server has died at a failpoint. Any other exit is a failure of the server.
    pub fn has_died(&mut self) -> bool {
        let Some(status) = self.server.as_mut().and_then(|server| server.try_wait().expect("a status"))
        else {
            return false;
        };
        self.server = None;
        assert_eq!(status.signal(), Some(9), "the server ended by itself: {status}\n{}", self.last_log());
        true
    }

    /// Stops the server as an administrator does. With a failpoint armed, it may die on the way.
    pub fn stop(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        let _ = kill_process(Pid::from_child(&server), Signal::TERM);
        let status = server.wait().expect("the server's end");
        assert!(
            status.success() || status.signal() == Some(9),
            "the server ends with {status}\n{}",
            self.last_log()
        );
    }

    /// The log of the current or last server.
    pub fn last_log(&self) -> String {
        fs::read_to_string(self.beside(&format!("server-{}.log", self.servers % 8))).unwrap_or_default()
    }

    /// Deletes the Python environments, so that the next run creates them again.
    pub fn forget_environments(&self) {
        assert!(self.server.is_none(), "a server may be using them");
        for entry in fs::read_dir(self.data().join("venvs")).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                fs::remove_dir_all(entry.path()).expect("an environment is removed");
            }
        }
    }

    /// Waits until the server is ready; `false` if it dies before.
    pub fn becomes_ready(&mut self) -> bool {
        let deadline = Instant::now() + READY_WITHIN;
        // PostgreSQL may log lines with `already` before.
        while !self.last_log().contains(" ready ") {
            if self.has_died() {
                return false;
            }
            assert!(Instant::now() < deadline, "the server does not become ready\n{}", self.last_log());
            sleep(Duration::from_millis(5));
        }
        true
    }

    /// Starts the server and waits until it is ready.
    pub fn start_ready(&mut self, variables: Variables<'_>) {
        self.start(variables);
        assert!(self.becomes_ready(), "the server dies while it starts");
    }

    /// Starts a run through the CLI, and returns before the run has begun. The server must be ready.
    pub fn submit(&self, document: &Document, variables: Variables<'_>) -> Result<RunId, Output> {
        self.submit_with(document, &[], variables)
    }

    fn submit_with(
        &self,
        document: &Document,
        words: &[&str],
        variables: Variables<'_>,
    ) -> Result<RunId, Output> {
        let path = document.write(&self.beside("pipeline"), self.ledger.path());
        let path = path.display().to_string();
        let words = [&["run", &path, "--detach"], words].concat();
        let output = self.command(&words, variables).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let id = said.split(|c: char| !c.is_ascii_alphanumeric()).find_map(|word| word.parse().ok());
        match id {
            Some(id) if output.status.success() => Ok(id),
            _ => Err(output),
        }
    }

    /// The output of the program for these arguments.
    pub fn say(&self, words: &[&str]) -> String {
        let output = self.command(words, &[]).output().expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    /// The URL of the current server.
    pub fn url(&self) -> String {
        let log = self.last_log();
        let url = log.split_once("url=\"").and_then(|(_, rest)| rest.split('"').next());
        url.unwrap_or_else(|| panic!("the server does not say where it is\n{log}")).to_owned()
    }

    /// Starts a run, which must be accepted.
    pub fn run(&self, document: &Document) -> RunId {
        self.run_with(document, &[])
    }

    /// Like `run`, with more arguments.
    pub fn run_with(&self, document: &Document, words: &[&str]) -> RunId {
        self.submit_with(document, words, &[]).unwrap_or_else(|output| {
            panic!("{}\n{}", String::from_utf8_lossy(&output.stderr), self.last_log())
        })
    }

    /// Requests that a run is cancelled, without waiting.
    pub fn cancel(&self, run: &RunId) {
        let output =
            self.command(&["cancel", run.as_str(), "--detach"], &[]).output().expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    pub fn wait_for_end(&mut self, run: &RunId, patience: Duration) -> RunState {
        let deadline = Instant::now() + patience;
        loop {
            let state = self.database.state(run);
            if state.is_final() {
                return state;
            }
            assert!(!self.has_died(), "the server was killed by somebody else");
            assert!(Instant::now() < deadline, "run {run} does not end: {state:?}\n{}", self.last_log());
            sleep(Duration::from_millis(50));
        }
    }

    /// Folder names that only this site's processes have in their command lines or environments.
    pub fn mark(&self) -> String {
        fs::canonicalize(self.data()).unwrap_or_else(|_| self.data()).display().to_string()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
        // A failed test leaves no processes or cgroups either.
        processes::end(&self.mark());
        if std::thread::panicking() {
            // Keeps the folder for debugging.
            self.folder.disable_cleanup(true);
            eprintln!("kept: {}", self.folder.path().display());
        }
    }
}

/// Installs the uv stand-in where the server finds it.
fn provide_uv(bin: &Path) {
    fs::create_dir(bin).expect("a folder for uv");
    fs::write(bin.join("uv"), include_str!("uv.sh")).expect("uv");
    fs::set_permissions(bin.join("uv"), Permissions::from_mode(0o755)).expect("uv's mode");
}

pub fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
