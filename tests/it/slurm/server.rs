//! What a server does on Slurm beyond every executor: the account of each job, and the handling of an
//! unreachable Slurm.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::clusters::Standing;
use cubeloom_domain::executor::{Event, Executor, StopCause};
use cubeloom_domain::job::Job;
use cubeloom_domain::logs::{LogName, LogStream, Logs};
use cubeloom_domain::outcome::{FailureKind, Outcome, WorkerName};
use cubeloom_executor_slurm::SlurmConfig;
use cubeloom_testkit::conformance::{
    Harness, PATIENCE, Program, assert_gone, executions, failure, run, signed, until_executed,
};

use super::executor::{OnSlurm, with_lines};
use super::harness::{self, told};

async fn until(what: &str, holds: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_run_as_their_persons_accounts_and_without_one_not_at_all() {
    let slurm = OnSlurm::new();
    let (key, ended) = run(&slurm, &Program::shell("id -un; printenv LEDGER >/dev/null")).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    let folder = slurm.attempt(&key);
    let member = told("CUBELOOM_TEST_SLURM_MEMBER");
    assert_eq!(fs::read_to_string(folder.join("worker-0/stdout")).unwrap(), format!("{member}\n"));
    let owner = |name: &str| fs::metadata(folder.join(name)).unwrap().uid();
    assert!(owner("job.json") == owner("worker-0/exit.json") && owner("job.json") != 0);

    let mut job = slurm.job(&Program::shell(&signed("")));
    job.user = "nobody-here".into();
    let refused = slurm.inner().bind(&job).unwrap_err();
    assert_eq!(refused.kind, FailureKind::CouldNotStart);
    assert!(refused.message.contains("`nobody-here` has no account"), "{}", refused.message);
    // A job without a person runs as the project's account, if there is one.
    job.user = "schedule:nightly".into();
    assert!(slurm.inner().bind(&job).unwrap_err().message.contains("is not a user"));
    let projects = OnSlurm::with(|config| {
        config.way.projects = [("p".to_owned(), told("CUBELOOM_TEST_SLURM_MEMBER"))].into();
    });
    assert!(projects.inner().bind(&Job { project: "p".into(), ..job.clone() }).is_ok());

    // The stranger's account may neither write in the member's workspace nor use the project's Slurm account.
    job.user = "stranger".into();
    let submission = slurm.submission_of(job);
    let key = submission.job.key.clone();
    slurm.executor().submit(submission).await;
    let ended = slurm.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::CouldNotStart);
    assert!(failure(&ended).message.contains("permission denied"), "{}", failure(&ended).message);
    assert_eq!(executions(&slurm, &key), 0);
}

/// A Slurm configuration for one server that a test can break and repair.
struct Conf(PathBuf);

impl Conf {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(told("SLURM_CONF")).with_file_name(format!("{name}.conf"));
        let conf = Self(path);
        conf.write(|text| text);
        conf
    }

    fn write(&self, change: impl Fn(String) -> String) {
        let text = fs::read_to_string(told("SLURM_CONF")).unwrap();
        let aside = self.0.with_extension("part");
        fs::write(&aside, change(text)).unwrap();
        fs::rename(aside, &self.0).unwrap();
    }

    /// Replaces one line.
    fn break_line(&self, begins: &str, by: &str) {
        self.write(|text| {
            let line = |line: &str| if line.starts_with(begins) { by.to_owned() } else { line.to_owned() };
            text.lines().map(line).collect::<Vec<_>>().join("\n") + "\n"
        });
    }

    fn mend(&self) {
        self.write(|text| text);
    }
}

/// Slurm becomes unreachable while a job runs and ends and another is submitted. No job is lost or run twice.
async fn away(name: &str, begins: &str, by: &str) {
    let conf = Conf::new(name);
    let slurm = OnSlurm::with(|config| config.calls.conf = Some(conf.0.to_str().unwrap().into()));
    let running = slurm.submission(&Program::shell(&signed("sleep 1")).workers(2));
    let key = running.job.key.clone();
    slurm.executor().submit(running).await;
    until_executed(&slurm, &key, 2).await;
    conf.break_line(begins, by);
    until("it is away", || matches!(slurm.executor().standing(), Standing::Away { .. })).await;
    let later = slurm.submission(&Program::shell(&signed("")));
    let later_key = later.job.key.clone();
    slurm.executor().submit(later).await;
    until("it ends meanwhile", || slurm.alive(&key) == 0).await;
    // Longer than it takes to report an end. Were it too short, a correct server would still pass.
    tokio::time::sleep(Duration::from_secs(1)).await;
    for key in [&key, &later_key] {
        assert_eq!(slurm.recorder().ends(key), 0, "{:?}", slurm.recorder().events(key));
    }
    conf.mend();
    assert_eq!(slurm.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_eq!(slurm.recorder().ended(&later_key).await.outcome, Outcome::Succeeded);
    assert_eq!(slurm.executor().standing(), Standing::Connected);
    assert_eq!((executions(&slurm, &key), executions(&slurm, &later_key)), (2, 1));
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_is_away_loses_nothing() {
    away("no-controller", "SlurmctldPort=", "SlurmctldPort=1").await;
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn munge_that_is_away_loses_nothing() {
    away("no-munge", "AuthInfo=", "AuthInfo=socket=/nonexistent/munge").await;
}

/// Puts an `sbatch` before Slurm's on the PATH.
fn with_sbatch(text: &str) -> OnSlurm {
    with_command("sbatch", text)
}

/// Puts a command before the machine's on the PATH.
fn with_command(name: &str, text: &str) -> OnSlurm {
    OnSlurm::with(|config| in_front(config, name, text))
}

/// Puts a command before the machine's on the PATH, in a folder that accounts can enter: `HERE` in its text.
pub fn in_front(config: &mut SlurmConfig, name: &str, text: &str) {
    let folder = PathBuf::from(&config.facts.workspace).join("bin");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let command = folder.join(name);
    fs::write(&command, format!("#!/bin/sh\n{}", text.replace("HERE", folder.to_str().unwrap()))).unwrap();
    fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).unwrap();
    config.calls.path = format!("{}:/usr/bin:/bin", folder.display());
}

/// Slurm accepts a job but its response is lost: the server finds the job instead of submitting it again.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submission_without_an_answer_is_looked_for_first() {
    let slurm = with_sbatch(
        "echo called >>HERE/calls\n/usr/bin/sbatch \"$@\" >/dev/null\n\
         echo 'sbatch: error: Socket timed out on send/recv operation' >&2\nexit 1\n",
    );
    let submission = slurm.submission(&Program::shell(&signed("sleep 1")));
    let key = submission.job.key.clone();
    slurm.executor().submit(submission).await;
    assert_eq!(slurm.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_eq!(executions(&slurm, &key), 1);
    let calls = fs::read_to_string(slurm.ledger().with_file_name("bin").join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 1, "one that was taken is not submitted again");
}

/// The account lookup fails for now: the attempt is pending with that reason and can be cancelled.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_that_cannot_be_looked_up_now_is_waited_for() {
    let slurm = with_command(
        "id",
        "[ -e HERE/there ] || { echo 'id: Connection refused' >&2; exit 1; }\nexec /usr/bin/id \"$@\"\n",
    );
    let (goes_on, given_up) =
        (slurm.submission(&Program::shell(&signed(""))), slurm.submission(&Program::shell(&signed(""))));
    let (key, other) = (goes_on.job.key.clone(), given_up.job.key.clone());
    slurm.executor().submit(goes_on).await;
    slurm.executor().submit(given_up).await;
    let waiting = slurm.executor().notices(&key).await;
    assert!(waiting.iter().any(|one| one.message.contains("Connection refused")), "{waiting:?}");
    slurm.executor().cancel(&other, StopCause::Cancelled, Duration::from_secs(1)).await;
    assert_eq!(slurm.recorder().ended(&other).await.outcome, Outcome::Cancelled);
    assert_eq!(slurm.recorder().ends(&key), 0);
    fs::write(slurm.ledger().with_file_name("bin").join("there"), "").unwrap();
    assert_eq!(slurm.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_eq!((executions(&slurm, &key), executions(&slurm, &other)), (1, 0));
}

/// Requests more than is free: the job is pending with Slurm's own reason and is cancelled without a trace.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_says_why_and_can_be_cancelled() {
    let slurm = OnSlurm::new();
    let mut job = slurm.job(&Program::shell(&signed("")));
    // Slurm would refuse more than all nodes have together. On hold, the job is pending for good.
    job.timeout = Some(cubeloom_domain::Span(Duration::from_secs(60)));
    let submission = with_lines(slurm.submission_of(job), "#SBATCH --begin=now+1hour", "#SBATCH");
    let key = submission.job.key.clone();
    slurm.executor().submit(submission).await;
    let began = std::time::Instant::now();
    loop {
        let notices = slurm.executor().notices(&key).await;
        if notices.iter().any(|one| one.reason == "BeginTime") {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{notices:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    slurm.executor().cancel(&key, StopCause::Cancelled, Duration::from_secs(5)).await;
    let ended = slurm.recorder().ended(&key).await;
    assert_eq!((ended.outcome, ended.started_at), (Outcome::Cancelled, None));
    assert!(!slurm.recorder().events(&key).iter().any(|event| matches!(event, Event::Started { .. })));
    assert_eq!(executions(&slurm, &key), 0);
    assert_gone(&slurm, &key);
}

/// The nodes with their GPUs and groups, as the clusters page shows them.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_has_the_nodes_that_slurm_has() {
    let slurm = OnSlurm::new();
    until("its nodes are known", || slurm.inner().facts().nodes.len() == 4).await;
    let facts = slurm.inner().facts();
    assert_eq!(
        (facts.kind.as_str(), facts.node_groups.as_slice()),
        ("slurm", ["cards".to_owned()].as_slice())
    );
    let first = &facts.nodes[0];
    assert_eq!((first.name.as_str(), first.cpu.0, first.memory.0), ("n1", 16_000, 64_000 << 20));
    assert_eq!((first.gpus.len(), first.groups.join(" ")), (4, "cards".to_owned()));
    assert!(facts.nodes[3].groups.is_empty());
}

/// The first bytes of the log of an attempt's first worker.
async fn read_log(slurm: &OnSlurm, key: &AttemptKey, stream: LogStream) -> io::Result<String> {
    let worker = WorkerName { role: "worker".into(), index: 0 };
    let name = LogName { worker, stream };
    let reading = Logs::read(slurm.inner(), key, &name, 0, 1000);
    let read = tokio::time::timeout(Duration::from_secs(10), reading).await.expect("nothing hangs");
    read.map(|piece| String::from_utf8_lossy(&piece.bytes).into_owned())
}

/// The account owns its attempt's folder and may put anything in place of a worker's files. The server must
/// not read its own files through them, and must not hang.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_account_puts_in_a_workers_place_does_not_lead_to_the_servers_files() {
    let secret = tempfile::NamedTempFile::new().unwrap();
    let text = "swordfish\n{\"output\": {\"stolen\": \"swordfish\"}}\n";
    fs::write(secret.path(), text).unwrap();
    let slurm = OnSlurm::new();
    // What the same reads return if nothing was replaced.
    let said = "echo good; echo bad >&2; echo '{\"output\": {\"given\": \"1\"}}' >>\"$CUBELOOM_OUTPUTS\"";
    let (honest, _) = run(&slurm, &Program::shell(said)).await;
    assert_eq!(read_log(&slurm, &honest, LogStream::Stdout).await.unwrap(), "good\n");
    assert_eq!(read_log(&slurm, &honest, LogStream::Stderr).await.unwrap(), "bad\n");
    let reported = Logs::reported(slurm.inner(), &honest).await.unwrap();
    assert!(reported.iter().any(|report| report.outputs.contains_key("given")), "{reported:?}");
    let outputs = "rm -f \"$CUBELOOM_OUTPUTS\"; ln -s $SECRET \"$CUBELOOM_OUTPUTS\"";
    let replaced = format!(
        "cd \"$(dirname \"$CUBELOOM_OUTPUTS\")\"; {outputs}; rm -f stdout stderr; ln -s $SECRET stderr; mkfifo stdout; \
         mkfifo exit.json; {}",
        signed("sleep 3")
    );
    let mut job = slurm.job(&Program::shell(&replaced));
    job.env.insert("SECRET".into(), secret.path().to_str().unwrap().into());
    let key = job.key.clone();
    slurm.executor().submit(slurm.submission_of(job)).await;
    until_executed(&slurm, &key, 1).await;
    let folder = slurm.attempt(&key).join("worker-0");
    assert!(fs::symlink_metadata(folder.join("stderr")).unwrap().is_symlink());
    // The error says that the file is refused, unlike other read errors.
    for stream in [LogStream::Stdout, LogStream::Stderr] {
        let error = read_log(&slurm, &key, stream).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{stream:?}: {error}");
    }
    let error = Logs::reported(slurm.inner(), &key).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
    let ended = slurm.recorder().ended(&key).await;
    assert!(ended.report.outputs.is_empty(), "{ended:?}");
    assert!(!format!("{ended:?}").contains("swordfish"), "{ended:?}");
}

/// A person renames a job while it runs: it is identified by its id and is not lost.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_is_called_otherwise_is_not_lost() {
    let slurm = OnSlurm::new();
    let submission = slurm.submission(&Program::shell(&signed("sleep 600")));
    let key = submission.job.key.clone();
    slurm.executor().submit(submission).await;
    until_executed(&slurm, &key, 1).await;
    let mut rename = std::process::Command::new("sh");
    let text = format!(
        "for id in $(squeue --noheader --name={} --format=%i); do scontrol update jobid=$id jobname=other comment=none; done",
        key.object_name()
    );
    assert!(rename.args(["-c", &text]).env("SLURM_CONF", told("SLURM_CONF")).status().unwrap().success());
    let called = harness::slurm(&["squeue", "--noheader", "--format=%j"]);
    assert!(!called.contains(&key.object_name()), "{called}");
    // The queue has been polled since: another job was seen to end.
    assert_eq!(run(&slurm, &Program::shell("true")).await.1.outcome, Outcome::Succeeded);
    assert_eq!(slurm.recorder().ends(&key), 0, "{:?}", slurm.recorder().events(&key));
    slurm.executor().cancel(&key, StopCause::Cancelled, Duration::from_millis(100)).await;
    assert_eq!(slurm.recorder().ended(&key).await.outcome, Outcome::Cancelled);
    assert_gone(&slurm, &key);
}
