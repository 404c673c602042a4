//! The real program on a test's own data folder, and checks for leftovers.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use cubeloom_domain::AttemptKey;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

pub mod amqp;
pub mod hdfs;
pub mod kafka;
pub mod processes;
pub mod program;
pub mod python;
pub mod s3;

pub use amqp::Amqp;
pub use hdfs::Hdfs;
pub use kafka::Kafka;
pub use s3::S3;

/// How long any single wait may take.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A data folder, and a folder for pipelines beside it. Dropping this checks that no process of it is left.
pub struct TestApp {
    folder: TempDir,
    variables: Vec<(String, String)>,
    /// The account that calls run as, if not the test's.
    account: Option<String>,
    /// The program, if not the one that cargo built.
    program: Option<PathBuf>,
}

/// The result of a call.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub out: String,
    pub err: String,
}

impl TestApp {
    pub fn new() -> Self {
        Self::in_folder(&std::env::temp_dir())
    }

    /// Creates its folder below another one, for instance on another file system.
    pub fn in_folder(parent: &Path) -> Self {
        // Workers run under their own uid and must be able to enter it.
        let open = Permissions::from_mode(0o755);
        let folder =
            tempfile::Builder::new().prefix("cli-").permissions(open).tempdir_in(parent).expect("a folder");
        Self { folder, variables: Vec::new(), account: None, program: None }
    }

    /// From now on, calls run as an account that owns the folder, with copies of the program and the
    /// templates that everyone can run.
    pub fn run_as(&mut self, account: &str, program: PathBuf) {
        let templates = self.path("task-templates");
        let mut copy = Command::new("cp");
        copy.arg("-r").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../task-templates")).arg(&templates);
        assert!(copy.status().expect("cp starts").success());
        let mut own = Command::new("chown");
        own.args(["-R", &format!("{account}:{account}")]).arg(self.folder.path());
        assert!(own.status().expect("chown starts").success());
        self.set("CUBELOOM_SERVER_TEMPLATES", templates.to_str().expect("UTF-8"));
        (self.account, self.program) = (Some(account.into()), Some(program));
    }

    /// From now on, calls use a copy of the program in the test's folder.
    pub fn run_copy(&mut self) {
        let copy = self.path("bin/cubeloom");
        fs::create_dir_all(copy.parent().expect("a parent")).expect("a folder");
        fs::copy(program::cubeloom(), &copy).expect("a copy");
        self.program = Some(copy);
    }

    /// Sets an environment variable for every later call.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.push((name.into(), value.into()));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Writes a file beside the data folder.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path
    }

    pub fn pipeline(&self, name: &str, tasks: &str) -> String {
        self.document(name, &format!("tasks:\n{tasks}"))
    }

    pub fn document(&self, name: &str, rest: &str) -> String {
        let text = format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: {name}\n{rest}");
        self.write(&format!("{name}/pipeline.yaml"), &text).to_str().expect("UTF-8").into()
    }

    /// The program with these arguments, restricted to this data folder.
    pub fn command(&self, words: &[&str]) -> Command {
        let program = self.program.clone().unwrap_or_else(program::cubeloom);
        let mut command = match &self.account {
            None => Command::new(program),
            Some(account) => {
                let mut lead = Command::new("setpriv");
                lead.args(["--reuid", account, "--regid", account, "--init-groups", "--"]).arg(program);
                lead
            }
        };
        command.args(words).env_clear().current_dir("/").stdin(Stdio::null());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.folder.path());
        command.env("CUBELOOM_DATA", self.data());
        command.env("CUBELOOM_SERVER_TEMPLATES", concat!(env!("CARGO_MANIFEST_DIR"), "/../task-templates"));
        // More concurrent workers than a small machine has CPUs: they mostly sleep.
        command.env("CUBELOOM_LOCAL_CPU", "8").env("CUBELOOM_LOCAL_MEMORY", "4Gi");
        command.env("CUBELOOM_DATABASE_RESERVE", "1Mi");
        command.env("CUBELOOM_LOCAL_GRACE", "1s");
        // Tests leave files for tasks beside the data folder, which is in `/tmp`.
        command.env("CUBELOOM_SANDBOX_TMP", "false");
        command.env("CUBELOOM_SERVER_LISTEN", "127.0.0.1:0");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs the program to its end.
    pub fn call(&self, words: &[&str]) -> Done {
        finish(self.start(words))
    }

    /// Runs it, and expects an exit code.
    #[track_caller]
    pub fn expect(&self, code: i32, words: &[&str]) -> Done {
        let done = self.call(words);
        assert_eq!(done.code, Some(code), "{words:?}: {done:#?}");
        done
    }

    /// Runs it with `--output json`, expects an exit code, and parses the output.
    #[track_caller]
    pub fn json(&self, code: i32, words: &[&str]) -> Value {
        let done = self.expect(code, &[words, &["--output", "json"]].concat());
        serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{words:?}: {error}: {done:#?}"))
    }

    pub fn start(&self, words: &[&str]) -> Running {
        Running::of(self.command(words))
    }

    /// Starts the program, appending its output to a file.
    pub fn start_logged(&self, words: &[&str], log: &Path) -> Running {
        let file = || fs::File::options().create(true).append(true).open(log).expect("a file");
        let mut command = self.command(words);
        Running { child: Some(command.stdout(file()).stderr(file()).spawn().expect("it starts")) }
    }

    /// Runs the program with this standard input.
    pub fn call_with_input(&self, words: &[&str], input: &str) -> Done {
        let mut command = self.command(words);
        command.stdin(Stdio::piped());
        let mut running = Running::of(command);
        let mut stdin = running.child.as_mut().and_then(|child| child.stdin.take()).expect("an input");
        stdin.write_all(input.as_bytes()).expect("it reads");
        drop(stdin);
        finish(running)
    }

    /// Starts a server and waits until it is the engine.
    pub fn serve(&self) -> Running {
        self.serve_with(&[])
    }

    /// Starts a server with extra environment variables.
    pub fn serve_with(&self, variables: &[(&str, &str)]) -> Running {
        let mut command = self.command(&["serve"]);
        command.envs(variables.iter().copied());
        let server = Running::of(command);
        let pid = server.pid().to_string();
        wait_for("the server to be the engine", || {
            fs::read_to_string(self.data().join("engine.lock")).is_ok_and(|text| text.trim() == pid)
                && self.data().join("wake.sock").exists()
        });
        server
    }

    pub fn latest(&self) -> Value {
        self.json(0, &["runs", "show", "latest"])
    }

    /// A file in the newest run's folder.
    pub fn result(&self, name: &str) -> String {
        let run = self.latest();
        let dir = Path::new(run["run_dir"].as_str().expect("a folder")).join(name);
        fs::read_to_string(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
    }

    /// Waits until a file in a run's folder exists.
    pub fn wait_for_file(&self, name: &str) {
        wait_for(name, || {
            let runs =
                fs::read_dir(self.data().join("workspace/default/runs")).into_iter().flatten().flatten();
            runs.into_iter().any(|run| run.path().join(name).exists())
        });
    }

    fn mark(&self) -> String {
        self.data().to_string_lossy().into_owned()
    }

    /// Leftovers: running processes and remaining files.
    fn left_over(&self) -> Vec<String> {
        let mark = self.mark();
        let shims = processes::shims(&mark).into_iter().map(|pid| format!("shim {pid}"));
        let workers = processes::workers(&mark).into_iter().map(|pid| format!("worker {pid}"));
        let attempts = attempts(&self.data().join("runs"));
        let cgroups = processes::cgroups(attempts.iter()).into_iter().map(|path| path.display().to_string());
        shims.chain(workers).chain(cgroups).collect()
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        let mut left = self.left_over();
        while !left.is_empty() && Instant::now() < deadline {
            sleep(Duration::from_millis(20));
            left = self.left_over();
        }
        processes::end(&self.mark());
        for pid in processes::workers(&self.mark()).into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        assert!(left.is_empty() || std::thread::panicking(), "left over: {left:?}");
    }
}

/// The keys of all attempts, from their folders `runs/<run>/<task>/<instance>/<n>`.
fn attempts(runs: &Path) -> Vec<AttemptKey> {
    let mut paths = vec![(runs.to_path_buf(), Vec::<String>::new())];
    for _ in 0..4 {
        let inside = |(path, names): (PathBuf, Vec<String>)| {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(move |entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                (entry.path(), names.iter().cloned().chain([name]).collect())
            })
        };
        paths = paths.into_iter().flat_map(inside).collect();
    }
    paths.into_iter().filter_map(|(_, names)| names.join(".").parse().ok()).collect()
}

/// A running program. Dropping this kills it.
pub struct Running {
    child: Option<Child>,
}

impl Running {
    /// Starts a program with its output captured.
    pub fn of(mut command: Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        Self { child: Some(child) }
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid().cast_signed()).expect("a pid");
        kill_process(pid, signal).expect("it can be signalled");
    }

    pub fn wait(self) -> Done {
        finish(self)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn finish(mut running: Running) -> Done {
    let child = running.child.take().expect("it runs");
    let pid = Pid::from_child(&child);
    let (sender, over) = std::sync::mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        if over.recv_timeout(PATIENCE).is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            let _ = kill_process(pid, Signal::KILL);
        }
    });
    let output = child.wait_with_output().expect("it can be waited for");
    drop(sender);
    guard.join().expect("the guard ends");
    Done {
        code: output.status.code(),
        signal: output.status.signal(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[track_caller]
pub fn wait_for(what: &str, done: impl Fn() -> bool) {
    wait_within(PATIENCE, what, done);
}

/// Like `wait_for` for slower conditions: package installation, frameworks that start slowly.
#[track_caller]
pub fn wait_within(patience: Duration, what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + patience;
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        sleep(Duration::from_millis(10));
    }
}

/// The state of each task in a run's report, by name.
pub fn states(run: &Value) -> Vec<(&str, &str)> {
    let tasks = run["tasks"].as_array().expect("tasks");
    tasks
        .iter()
        .map(|task| (task["name"].as_str().expect("a name"), task["state"].as_str().expect("a state")))
        .collect()
}

/// The outputs of a task's first instance.
pub fn outputs<'a>(run: &'a Value, task: &str) -> &'a Value {
    &instance(run, task)["report"]["outputs"]
}

/// A task's first instance.
pub fn instance<'a>(run: &'a Value, task: &str) -> &'a Value {
    let tasks = run["tasks"].as_array().expect("tasks");
    let task = tasks.iter().find(|each| each["name"] == task).unwrap_or_else(|| panic!("no task {task}"));
    &task["instances"][0]
}
