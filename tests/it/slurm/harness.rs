//! A project member on the cluster: pipelines compiled and submitted as the account that their jobs run as.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::program;

const TEMPLATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../task-templates");

/// A setting of the cluster that `tests/slurm/up` wrote.
#[allow(clippy::disallowed_methods, reason = "a test is told where its cluster is")]
pub fn told(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run make test-slurm"))
}

/// Runs a Slurm command as an administrator. Returns its output, or its error.
pub fn slurm(words: &[&str]) -> String {
    let mut command = Command::new(words[0]);
    let done = command.args(&words[1..]).env("SLURM_CONF", told("SLURM_CONF")).output().unwrap();
    let said = if done.status.success() { &done.stdout } else { &done.stderr };
    String::from_utf8_lossy(said).into_owned()
}

/// A test's own workspace, owned by the project's member.
pub struct Person {
    workspace: PathBuf,
}

/// An attempt that was submitted.
pub struct Submitted {
    pub folder: PathBuf,
    /// Slurm's job id.
    pub id: String,
}

impl Person {
    pub fn new(test: &str) -> Self {
        let workspace = Path::new(&told("CUBELOOM_TEST_SLURM_WORKSPACE")).join(test);
        fs::create_dir(&workspace).unwrap();
        let person = Self { workspace };
        person.give_all();
        person
    }

    /// Changes the owner of the whole workspace to the member.
    fn give_all(&self) {
        let member = told("CUBELOOM_TEST_SLURM_MEMBER");
        finish(Command::new("chown").args(["-R", &format!("{member}:{member}")]).arg(&self.workspace));
    }

    /// Writes a file owned by the member.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.workspace.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.give_all();
        path
    }

    /// A Slurm command run as the member.
    pub fn command(&self, program: &str) -> Command {
        let member = told("CUBELOOM_TEST_SLURM_MEMBER");
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &member, "--regid", &member, "--init-groups", "--", program]);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("SLURM_CONF", told("SLURM_CONF"));
        command.env("HOME", &self.workspace).current_dir("/");
        command
    }

    /// `cubeloom compile` for the test cluster, as the account that runs the tests: the member may not have
    /// access to the checkout.
    pub fn compiling(&self, pipeline: &Path) -> Command {
        let mut compile = Command::new(program::cubeloom());
        compile.arg("compile").arg(pipeline).args(["--for", "slurm", "--output", "json", "--facts"]);
        compile.arg(self.facts()).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &self.workspace);
        compile.env("CUBELOOM_SERVER_TEMPLATES", TEMPLATES).current_dir("/");
        compile
    }

    /// Writes the facts of the test cluster to a file.
    pub fn facts(&self) -> PathBuf {
        let facts = format!(
            "slurm:\n  account: vision\n  qos: high\n  partition: all\n  cards: {{types: [a100, h100], shards: 4}}\n  \
             workspace: {0}\n  templates: {0}/templates\n  program: {1}\n",
            self.workspace.display(),
            shared_program().display()
        );
        self.write("facts.yaml", &facts)
    }

    /// Runs `sbatch --test-only` on a script.
    ///
    /// # Errors
    /// Slurm's message if it would refuse the script.
    pub fn test_only(&self, script: &str) -> Result<(), String> {
        let script = self.write("job.sh", script);
        let done = self.command("sbatch").arg("--test-only").arg(script).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        if done.status.success() && said.contains("to start at") { Ok(()) } else { Err(said) }
    }

    /// Compiles a pipeline of these tasks with `--write`. Returns the scripts.
    pub fn compile(&self, tasks: &str) -> Vec<PathBuf> {
        let text = format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n{tasks}");
        let pipeline = self.write("pipeline/pipeline.yaml", &text);
        let done = finish(self.compiling(&pipeline).arg("--write"));
        self.give_all();
        let written: Value = serde_json::from_slice(&done.stdout).unwrap();
        written["scripts"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().into()).collect()
    }

    /// Compiles and submits a pipeline of one task.
    pub fn submit(&self, task: &str) -> Submitted {
        let scripts = self.compile(task);
        assert_eq!(scripts.len(), 1);
        self.sbatch(&scripts[0])
    }

    pub fn sbatch(&self, script: &Path) -> Submitted {
        let done = finish(self.command("sbatch").arg("--parsable").arg(script));
        let id = String::from_utf8(done.stdout).unwrap().trim().to_owned();
        Submitted { folder: script.parent().unwrap().into(), id }
    }

    /// Waits until a job has ended. Returns Slurm's state.
    pub fn wait(&self, job: &Submitted) -> String {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let mut show = self.command("scontrol");
            let done = show.args(["-o", "show", "job", &job.id]).output().unwrap();
            let text = String::from_utf8(done.stdout).unwrap();
            let states: Vec<&str> =
                text.split_whitespace().filter_map(|word| word.strip_prefix("JobState=")).collect();
            let over = |state: &&str| !["PENDING", "RUNNING", "COMPLETING", "CONFIGURING"].contains(state);
            if !states.is_empty() && states.iter().all(over) {
                return states[0].to_owned();
            }
            assert!(Instant::now() < deadline, "{text}\n{}", job.log());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Submitted {
    /// A file of the attempt's folder; empty if it does not exist.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    /// The output of Slurm and of the script.
    pub fn log(&self) -> String {
        self.read("slurm.log")
    }

    /// The exit record of a worker.
    pub fn exit(&self, worker: &str) -> Value {
        serde_json::from_str(&self.read(&format!("{worker}/exit.json")))
            .unwrap_or_else(|error| panic!("{worker}: {error}\n{}", self.log()))
    }

    /// Waits until a worker has written something.
    pub fn wait_for(&self, name: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.read(name).is_empty() {
            assert!(Instant::now() < deadline, "{name} does not come: {}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Runs a command that must succeed.
fn finish(command: &mut Command) -> Output {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    done
}

/// A copy of the program under test that every account can run.
pub fn shared_program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let copy = || {
        let path = Path::new(&told("CUBELOOM_TEST_SLURM_WORKSPACE")).with_file_name("cubeloom");
        if !path.exists() {
            let own = path.with_extension(std::process::id().to_string());
            fs::copy(program::cubeloom(), &own).unwrap();
            fs::rename(own, &path).unwrap();
        }
        path
    };
    PROGRAM.get_or_init(copy).clone()
}
