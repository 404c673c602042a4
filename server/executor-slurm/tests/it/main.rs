//! The node program that a job's script starts, without Slurm: workers coordinate through their files.

#![allow(clippy::disallowed_methods, reason = "tests make the files that they look at")]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use cubeloom_domain::job::{SecretMount, SuccessRule};
use cubeloom_domain::lowered::{LocalJob, LocalWorker};
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::slurm::tokens;
use cubeloom_domain::{AttemptKey, Bytes, Cpu, RunId, Timestamp};
use tempfile::TempDir;

/// An attempt whose workers run these shell commands, two per role: `first`, then `second`.
struct Attempt {
    folder: TempDir,
    job: LocalJob,
}

impl Attempt {
    fn new(programs: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let worker = |(rank, program): (u32, &&str)| {
            let name = WorkerName { role: if rank < 2 { "first" } else { "second" }.into(), index: rank % 2 };
            let own = folder.path().join(name.to_string()).to_str().unwrap().to_owned();
            let env = [
                ("PATH", "/usr/bin:/bin".to_owned()),
                ("OUT", format!("{own}/outputs.jsonl")),
                ("HERE", format!("{}:{}", tokens::address(rank), tokens::port(rank))),
                ("FIRST", tokens::address(0)),
                ("LINK", tokens::LINK.into()),
                ("CUDA_VISIBLE_DEVICES", tokens::CARDS.into()),
            ];
            LocalWorker {
                name,
                rank,
                cwd: format!("{own}/work"),
                argv: ["sh", "-c", program].map(Into::into).into(),
                setup: Vec::new(),
                env: env.into_iter().map(|(name, value)| (name.into(), value)).collect(),
                secrets: Vec::new(),
                files: [("peers".to_owned(), format!("{}\n", tokens::address(1)))].into(),
                cpu: Cpu(1000),
                cpu_limit: None,
                cpu_exclusive: false,
                memory: Bytes(1 << 30),
                shm: None,
                outputs_file: format!("{own}/outputs.jsonl"),
                folder: own,
            }
        };
        let job = LocalJob {
            key: AttemptKey { run: RunId::new(Timestamp(0), 1), task: "t".into(), instance: 0, n: 1 },
            project: "p".into(),
            python: None,
            folders: vec![folder.path().join("run").to_str().unwrap().into()],
            workers: (0u32..).zip(programs).map(worker).collect(),
            success: SuccessRule::AllWorkers,
            gang: u32::try_from(programs.len()).unwrap(),
            outputs: Vec::new(),
        };
        Self { folder, job }
    }

    /// Writes the files that the script writes.
    fn write(&self) {
        let places = (0..self.job.workers.len())
            .map(|rank| format!("{rank} n{rank} 10.0.0.{rank} {}\n", 10_000 + rank));
        fs::write(self.path().join("places"), places.collect::<String>()).unwrap();
        fs::write(self.path().join("token"), "c0ffee").unwrap();
        fs::write(self.path().join("job.json"), serde_json::to_vec(&self.job).unwrap()).unwrap();
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Starts a worker as the task of a step with this first rank.
    fn start(&self, first: u32, task: u32) -> Child {
        let mut command = node(&["__slurm-worker", self.path().to_str().unwrap(), &first.to_string()]);
        command.env("SLURM_PROCID", task.to_string()).env("CUDA_VISIBLE_DEVICES", format!("{task}"));
        command.spawn().unwrap()
    }

    /// Runs all workers, each as a step's only task; returns their exit codes.
    fn run(&self) -> Vec<i32> {
        self.write();
        let ranks = 0..u32::try_from(self.job.workers.len()).unwrap();
        let children: Vec<Child> = ranks.map(|rank| self.start(0, rank)).collect();
        children.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect()
    }

    /// The verdict at the job's end.
    fn verdict(&self) -> (Option<i32>, String) {
        let done = node(&["__slurm-verdict", self.path().to_str().unwrap()]).output().unwrap();
        (done.status.code(), said(&done))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }
}

fn node(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cubeloom-slurm-node"));
    command.args(words).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

#[test]
fn a_worker_is_told_what_only_its_node_knows() {
    let attempt = Attempt::new(&[
        "true",
        "true",
        "echo $HERE $FIRST $LINK $CUDA_VISIBLE_DEVICES $CUBELOOM_JOB_TOKEN; cat ../peers",
    ]);
    attempt.write();
    // A separate component: its step counts from 0.
    assert!(attempt.start(2, 0).wait().unwrap().success());
    assert_eq!(attempt.read("second-0/stdout"), "10.0.0.2:10002 10.0.0.0 10063 0 c0ffee\n10.0.0.1\n");
    assert!(attempt.path().join("run").is_dir(), "the job's folders are made");
    assert!(attempt.read("second-0/exit.json").contains("\"code\":0"));
    assert!(!attempt.path().join("second-0/work").exists() && !attempt.path().join("stop").exists());
}

/// Otherwise the kernel would kill the shim when memory runs out, and how the worker ended would be lost.
#[test]
fn the_kernel_ends_a_program_before_its_shim() {
    let attempt = Attempt::new(&["cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj"]);
    let own = fs::read_to_string("/proc/self/oom_score_adj").unwrap();
    assert_eq!(attempt.run(), [0]);
    assert_eq!(attempt.read("first-0/stdout"), format!("500\n{own}"));
}

#[test]
fn all_that_end_well_succeed() {
    let attempt = Attempt::new(&["true", "true", "true"]);
    assert_eq!(attempt.run(), [0, 0, 0]);
    let (code, said) = attempt.verdict();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn the_first_that_fails_stops_the_others() {
    let attempt = Attempt::new(&["sleep 60", "echo no luck >&2; exit 3", "sleep 60"]);
    assert_eq!(attempt.run(), [0, 0, 0], "how each ended is written down");
    let (code, said) = attempt.verdict();
    assert_eq!(code, Some(1));
    assert!(
        said.contains("first-1 ended with exit code 3") && said.contains("2 other workers were stopped"),
        "{said}"
    );
    assert!(said.contains("| no luck"), "{said}");
    assert!(attempt.read("first-0/exit.json").contains("\"stopped\":true"));
}

#[test]
fn a_role_that_decides_stops_the_others_and_the_job_succeeds() {
    let mut attempt = Attempt::new(&["true", "true", "sleep 60"]);
    attempt.job.success = SuccessRule::Role("first".into());
    attempt.run();
    let (code, said) = attempt.verdict();
    assert_eq!(code, Some(0), "{said}");
    assert!(attempt.read("second-0/exit.json").contains("\"stopped\":true"));
}

#[test]
fn an_elastic_worker_that_is_lost_is_spared() {
    let mut attempt = Attempt::new(&["exit 3", "sleep 1", "sleep 1"]);
    attempt.job.success = SuccessRule::AnyWorker;
    attempt.job.gang = 2;
    attempt.run();
    assert_eq!(attempt.verdict().0, Some(0));
    assert!(!attempt.path().join("stop").exists());
}

#[test]
fn a_worker_runs_at_most_once() {
    let attempt = Attempt::new(&["echo once"]);
    assert_eq!(attempt.run(), [0]);
    assert_ne!(attempt.run(), [0]);
    assert_eq!(attempt.read("first-0/stdout"), "once\n");
}

/// Its secrets are gone by then, which must not be reported of a worker that had them.
#[test]
fn how_a_worker_ended_stays_written_down() {
    let mut attempt = Attempt::new(&["echo $KEY"]);
    attempt.job.workers[0].secrets =
        vec![SecretMount { name: "key".into(), env: Some("KEY".into()), file: None }];
    let secrets = attempt.path().join("secrets.json");
    fs::write(&secrets, r#"{"key": "swordfish-7"}"#).unwrap();
    assert_eq!(attempt.run(), [0]);
    let exit = attempt.read("first-0/exit.json");
    fs::remove_file(secrets).unwrap();
    assert_ne!(attempt.run(), [0]);
    assert_eq!(attempt.read("first-0/exit.json"), exit);
    assert_eq!(attempt.verdict().0, Some(0));
}

/// A running worker keeps the files that were created for it.
#[test]
fn a_worker_that_runs_is_not_prepared_again() {
    let attempt = Attempt::new(&["echo up; until [ -e ../../go ]; do sleep 0.01; done; cat ../peers"]);
    attempt.write();
    let mut first = attempt.start(0, 0);
    while attempt.read("first-0/stdout").is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    fs::write(attempt.path().join("first-0/peers"), "its own\n").unwrap();
    assert!(!attempt.start(0, 0).wait().unwrap().success());
    fs::write(attempt.path().join("go"), "").unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!(attempt.read("first-0/stdout"), "up\nits own\n");
}

#[test]
fn a_worker_without_a_record_is_lost() {
    let attempt = Attempt::new(&["true", "true"]);
    attempt.write();
    attempt.start(0, 0).wait().unwrap();
    let (code, said) = attempt.verdict();
    assert!(code == Some(1) && said.contains("first-1 is lost"), "{said}");
}

/// Slurm signals every process of a step, perhaps the program before the shim that supervises it.
#[test]
fn a_program_that_is_told_to_stop_before_its_shim_was_stopped() {
    for program in ["echo $$; exec sleep 60", "trap 'exit 0' TERM; echo $$; while :; do sleep 0.01; done"] {
        let attempt = Attempt::new(&[program]);
        attempt.write();
        let mut shim = attempt.start(0, 0);
        let mut told = String::new();
        while !told.ends_with('\n') {
            std::thread::sleep(std::time::Duration::from_millis(10));
            told = attempt.read("first-0/stdout");
        }
        let both = format!("kill -TERM {}; kill -TERM {}", told.trim(), shim.id());
        assert!(Command::new("sh").args(["-c", &both]).status().unwrap().success());
        assert!(shim.wait().unwrap().success());
        let exit = attempt.read("first-0/exit.json");
        assert!(exit.contains("\"stopped\":true"), "{program}: {exit}");
    }
}

#[test]
fn an_output_that_is_missing_fails_the_job() {
    let mut attempt = Attempt::new(&["echo '{\"output\": {\"a\": 1}}' >>$OUT"]);
    attempt.job.outputs = vec!["a".into(), "loss".into()];
    attempt.run();
    let (code, said) = attempt.verdict();
    assert!(code == Some(1) && said.contains("loss"), "{said}");
}

#[test]
fn secrets_are_read_masked_and_named_where_they_are_missing() {
    let mut attempt = Attempt::new(&["echo \"it is $KEY\"; cat $CUBELOOM_SECRETS/key"]);
    attempt.job.workers[0].secrets =
        vec![SecretMount { name: "key".into(), env: Some("KEY".into()), file: Some("key".into()) }];
    let values: BTreeMap<&str, &str> = [("key", "swordfish-7")].into();
    fs::write(attempt.path().join("secrets.json"), serde_json::to_vec(&values).unwrap()).unwrap();
    assert_eq!(attempt.run(), [0]);
    let said = attempt.read("first-0/stdout");
    assert!(said.starts_with("it is ") && !said.contains("swordfish"), "{said}");
    assert!(!attempt.path().join("first-0/secrets").exists(), "secret files go with the worker");

    let mut attempt = Attempt::new(&["true"]);
    attempt.job.workers[0].secrets =
        vec![SecretMount { name: "key".into(), env: Some("KEY".into()), file: None }];
    assert_eq!(attempt.run(), [0]);
    let (code, said) = attempt.verdict();
    assert!(code == Some(1) && said.contains("the secret `key` was not passed"), "{said}");
}

#[test]
fn what_is_wrong_with_a_call_is_said() {
    let attempt = Attempt::new(&["true"]);
    attempt.write();
    let folder = attempt.path().to_str().unwrap();
    let refused = |words: &[&str], task: &str| {
        let done = node(words).env("SLURM_PROCID", task).output().unwrap();
        assert_eq!(done.status.code(), Some(70), "{words:?}");
        said(&done)
    };
    assert!(refused(&["__slurm-worker", folder], "0").contains("first rank"));
    assert!(refused(&["__slurm-worker", folder, "x"], "0").contains("not a number"));
    assert!(refused(&["__slurm-worker", folder, "0"], "").contains("SLURM_PROCID"));
    assert!(refused(&["__slurm-worker", folder, "1"], "0").contains("no worker of rank 1"));
    fs::write(attempt.path().join("places"), "0 n1\n").unwrap();
    let said = refused(&["__slurm-worker", folder, "0"], "0");
    assert!(said.contains("places") && said.contains("NODE ADDRESS PORT"), "{said}");
    fs::remove_file(attempt.path().join("job.json")).unwrap();
    let said = refused(&["__slurm-verdict", folder], "0");
    assert!(said.contains("job.json") && said.contains("No such file"), "{said}");
}
