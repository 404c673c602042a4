//! A real server, killed with SIGKILL at each failpoint in turn, and another one that resumes its work.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cubeloom_domain::executor::{Event, StopCause};
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::{AttemptKey, failpoint};
use cubeloom_executor_local::{FAILPOINTS, LocalConfig};
use cubeloom_testkit::conformance::{Harness, PATIENCE, Program, SIGN, until_executed};
use tempfile::TempDir;

use crate::harness::{Local, reachable_folder};

const AT: &str = cubeloom_executor_local::failpoint::POINT;
const FOLDER: &str = "CUBELOOM_TEST_FOLDER";
const KEY: &str = "CUBELOOM_TEST_KEY";
const CANCEL: &str = "CUBELOOM_TEST_CANCEL";
const FORGETFUL: &str = "CUBELOOM_TEST_FORGETFUL";

fn variable(name: &str) -> Option<String> {
    #[allow(clippy::disallowed_methods, reason = "this test is two programs")]
    std::env::var(name).ok()
}

fn settings(config: &mut LocalConfig) {
    config.adoption = variable(FORGETFUL).is_none();
    config.shim_env.extend(variable(AT).map(|at| (AT.to_owned(), at)));
}

/// Not a test itself: the server that is killed. It does what the engine does after a start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by the tests beside it"]
async fn server() {
    let (Some(folder), Some(key)) = (variable(FOLDER), variable(KEY)) else { return };
    failpoint::install(|point| {
        if variable(AT).is_some_and(|at| at == point) {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    });
    let key: AttemptKey = key.parse().unwrap();
    let harness = Local::in_folder(Path::new(&folder), settings);
    let rest = if variable(CANCEL).is_some() { "exec sleep 60" } else { "sleep 0.2" };
    let submission = harness.submission_of(Program::shell(&format!("{SIGN}\n{rest}")).job(key.clone()));
    harness.executor().adopt(submission.clone()).await;
    let told = |event: &Event| match event {
        Event::NotFound => Some(false),
        Event::Started { .. } | Event::Ended(_) => Some(true),
        _ => None,
    };
    if !harness.recorder().first(&key, "whether it is there", told).await {
        harness.executor().submit(submission).await;
    }
    if variable(CANCEL).is_some() {
        until_executed(&harness, &key, 1).await;
        harness.executor().cancel(&key, StopCause::Cancelled, Duration::from_secs(5)).await;
    }
    let ended = harness.recorder().ended(&key).await;
    if variable(AT).is_some() {
        // The cleanup, which has its own failpoints, follows the report: this server is killed there at the
        // latest.
        tokio::time::sleep(PATIENCE).await;
    }
    fs::write(Path::new(&folder).join("outcome"), serde_json::to_string(&ended.outcome).unwrap()).unwrap();
}

/// Runs the server to its end or its death.
fn serve(folder: &Path, key: &AttemptKey, more: &[(&str, &str)]) -> ExitStatus {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::server", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .env(KEY, key.to_string())
        .envs(more.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
}

fn executed(folder: &Path) -> usize {
    fs::read_to_string(folder.join("ledger")).unwrap_or_default().lines().count()
}

fn outcome(folder: &Path) -> Outcome {
    serde_json::from_str(&fs::read_to_string(folder.join("outcome")).unwrap()).unwrap()
}

/// Kills the server at `point`.
fn killed_at(point: &str, more: &[(&str, &str)]) -> (TempDir, AttemptKey) {
    let folder = reachable_folder();
    let key = Local::key();
    let died = serve(folder.path(), &key, &[more, &[(AT, point)]].concat());
    assert_eq!(died.signal(), Some(9), "{point} was not reached");
    (folder, key)
}

/// Starts another server, and returns how often the worker ran.
fn goes_on(folder: &TempDir, key: &AttemptKey, more: &[(&str, &str)]) -> (usize, Outcome) {
    let ended = serve(folder.path(), key, more);
    assert!(ended.success(), "the second server failed: {ended}");
    (executed(folder.path()), outcome(folder.path()))
}

/// Kills the server at `point`, starts another, and returns how often the worker ran.
fn kill_at(point: &str, more: &[(&str, &str)]) -> (usize, Outcome) {
    let (folder, key) = killed_at(point, more);
    goes_on(&folder, &key, more)
}

#[test]
fn nothing_is_lost_and_nothing_runs_twice() {
    // Reached with a Python, by a cancel, by an elastic job, or only as root.
    let elsewhere =
        ["local.venv", "local.python", "local.cancel", "local.scale", "local.wish", "shim.stop", "shim.kill"];
    let root_only = (!rustix::process::geteuid().is_root()).then_some("local.owner");
    let here = |point: &&str| !elsewhere.iter().chain(&root_only).any(|start| point.starts_with(start));
    for point in FAILPOINTS.iter().copied().filter(here) {
        assert_eq!(kill_at(point, &[]), (1, Outcome::Succeeded), "killed at {point}");
    }
}

#[test]
fn a_cancel_survives() {
    let reached = [
        "local.cancel.before",
        "local.wish.before",
        "local.wish.after",
        "local.cancel.after",
        "shim.stop.before",
    ];
    for point in reached.into_iter().chain(["shim.stop.after", "shim.exit.rename.before"]) {
        assert_eq!(kill_at(point, &[(CANCEL, "1")]), (1, Outcome::Cancelled), "killed at {point}");
    }
}

#[test]
fn without_adoption_it_would_run_twice() {
    let forgetful = [(FORGETFUL, "1")];
    let (folder, key) = killed_at("shim.fork.after", &forgetful);
    // The second server ends what it finds: the first worker may not have started by then.
    let begun = Instant::now();
    while executed(folder.path()) == 0 {
        assert!(begun.elapsed() < PATIENCE, "the first worker does not begin");
        thread::sleep(Duration::from_millis(10));
    }
    let (executions, _) = goes_on(&folder, &key, &forgetful);
    assert_eq!(executions, 2, "the ledger notices what the executor does not say");
}
