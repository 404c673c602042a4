//! The same over slurmrestd, while Slurm's job commands do not work: submission, gangs, the end of jobs,
//! pending reasons, and rejected tokens.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cubeloom_domain::Bytes;
use cubeloom_domain::clusters::Standing;
use cubeloom_domain::executor::{Executor, StopCause};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Lowered;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::slurm::{SlurmCalls, SlurmRest};
use cubeloom_executor_slurm::SlurmConfig;
use cubeloom_testkit::conformance::{
    Harness, PATIENCE, Program, assert_gone, executions, failure, run, signed,
};

use super::executor::{OnSlurm, calls, with_lines};
use super::harness::told;
use super::product::wrong_settings;
use super::sudo;
use crate::api::support::{Client, Server};
use crate::support::TestApp;

/// slurmrestd of the test cluster, called as the account of a server that is not root.
pub fn rest() -> SlurmRest {
    SlurmRest {
        url: format!("http://127.0.0.1:{}", told("CUBELOOM_TEST_SLURM_REST")),
        key: key().to_str().unwrap().into(),
        user: told("CUBELOOM_TEST_SLURM_SERVER"),
        version: "v0.0.38".into(),
    }
}

/// The key that signs the cluster's tokens.
fn key() -> PathBuf {
    PathBuf::from(told("CUBELOOM_TEST_SLURM_STATE")).join("ctld/jwt.key")
}

/// Uses slurmrestd. Calling one of the commands instead fails.
pub fn over_rest(config: &mut SlurmConfig) {
    let folder = PathBuf::from(&config.facts.workspace).join("bin");
    fs::create_dir(&folder).unwrap();
    for name in ["sbatch", "squeue", "scancel", "sinfo"] {
        let command = folder.join(name);
        fs::write(&command, "#!/bin/sh\necho \"$0 is called\" >&2; exit 9\n").unwrap();
        fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).unwrap();
    }
    config.calls.path = format!("{}:/usr/bin:/bin", folder.display());
    config.calls.slurmrestd = Some(rest());
}

cases!(crate::slurm::executor::OnSlurm::with(crate::slurm::rest::over_rest) => submit: ends_well, twice);
cases!(crate::slurm::executor::OnSlurm::with(crate::slurm::rest::over_rest) => cancel: before, running);
cases!(crate::slurm::executor::OnSlurm::with(crate::slurm::rest::over_rest) => crash: starting);
cases!(crate::slurm::executor::OnSlurm::with(crate::slurm::rest::over_rest) => faults: out_of_memory);

/// The roles of a heterogeneous job start together; the master's end ends the others.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_that_differ_are_one_heterogeneous_job() {
    let slurm = OnSlurm::with(over_rest);
    let text = signed("test $CUBELOOM_ROLE = master && { sleep 0.5; exit 0; }; sleep 60");
    let mut job = slurm.job(&Program::shell(&text).master_and(2));
    job.roles[0].resources.memory = Bytes(128 << 20);
    let submission = slurm.submission_of(job);
    let Lowered::Slurm(lowered) = &*submission.lowered else { panic!() };
    assert!(lowered.script.contains("#SBATCH hetjob"), "{}", lowered.script);
    let key = submission.job.key.clone();
    slurm.executor().submit(submission).await;
    assert_eq!(slurm.recorder().ended(&key).await.outcome, Outcome::Succeeded);
    assert_eq!(executions(&slurm, &key), 3);
    assert_gone(&slurm, &key);
}

/// A pending job shows Slurm's own reason.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_says_why_and_can_be_cancelled() {
    let slurm = OnSlurm::with(over_rest);
    let submission = with_lines(slurm.submission(&Program::shell(&signed(""))), "#SBATCH --hold", "#SBATCH");
    let key = submission.job.key.clone();
    slurm.executor().submit(submission).await;
    let began = Instant::now();
    loop {
        let notices = slurm.executor().notices(&key).await;
        if notices.iter().any(|one| one.reason == "JobHeldUser") {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{notices:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    slurm.executor().cancel(&key, StopCause::Cancelled, Duration::from_secs(5)).await;
    assert_eq!(slurm.recorder().ended(&key).await.outcome, Outcome::Cancelled);
    assert_eq!(executions(&slurm, &key), 0);
}

/// A key that differs from slurmctld's ends no job: the error names the setting, and correcting the file is
/// enough.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_key_is_told_by_the_settings_name_and_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("key");
    fs::write(&own, "of another cluster").unwrap();
    let slurm = OnSlurm::with(|config| {
        over_rest(config);
        let settings = config.calls.slurmrestd.as_mut().unwrap();
        settings.key = own.to_str().unwrap().into();
    });
    let submission = slurm.submission(&Program::shell(&signed("")));
    let attempt = submission.job.key.clone();
    slurm.executor().submit(submission).await;
    let named = "`key` of the settings [slurm.slurm] slurmrestd";
    let began = Instant::now();
    loop {
        let standing = slurm.executor().standing();
        let notices = slurm.executor().notices(&attempt).await;
        let says = matches!(&standing, Standing::Away { why, .. } if why.contains(named));
        if says && notices.iter().any(|one| one.message.contains(named)) {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{standing:?} {notices:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(slurm.recorder().ends(&attempt), 0);
    fs::copy(key(), &own).unwrap();
    assert_eq!(slurm.recorder().ended(&attempt).await.outcome, Outcome::Succeeded);
    assert_eq!(executions(&slurm, &attempt), 1);
    assert_eq!(slurm.executor().standing(), Standing::Connected);
}

/// Tokens are issued only for people's accounts, and grant no more than the account's own rights.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_no_account_or_may_not_use_it_runs_nothing() {
    let slurm = OnSlurm::with(|config| {
        over_rest(config);
        // Several accounts share this workspace, so all may write: Slurm itself must refuse the stranger's
        // jobs.
        let shared = PathBuf::from(&config.facts.workspace);
        for name in ["runs", ".code", ".templates"] {
            fs::create_dir(shared.join(name)).unwrap();
            fs::set_permissions(shared.join(name), fs::Permissions::from_mode(0o1777)).unwrap();
        }
    });
    let unknown = Job { user: "nobody-here".into(), ..slurm.job(&Program::shell("true")) };
    assert!(slurm.inner().bind(&unknown).unwrap_err().message.contains("`nobody-here` has no account"));
    let submission = slurm.submission_of(Job { user: "stranger".into(), ..unknown });
    let key = submission.job.key.clone();
    slurm.executor().submit(submission).await;
    let ended = slurm.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::CouldNotStart);
    let said = &failure(&ended).message;
    assert!(said.contains("slurmrestd: ") && said.contains("nvalid account"), "{said}");
    let (_, ended) = run(&slurm, &Program::shell("true")).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "the member's do");
}

/// A server that may switch accounts for one program only, over slurmrestd's socket.
pub fn bound_server() -> (Server, Client) {
    let account = told("CUBELOOM_TEST_SLURM_BOUND");
    let app = TestApp::new();
    let own = app.path("jwt.key");
    fs::copy(key(), &own).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o600)).unwrap();
    let socket = PathBuf::from(told("CUBELOOM_TEST_SLURM_STATE")).join("rest/socket");
    let slurmrestd = SlurmRest {
        url: format!("unix:{}", socket.display()),
        key: own.to_str().unwrap().into(),
        user: account.clone(),
        ..rest()
    };
    sudo::serve(app, &account, SlurmCalls { slurmrestd: Some(slurmrestd), ..calls() }, |_| {})
}

#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn a_server_that_becomes_accounts_for_one_program_only_runs_and_stops_jobs() {
    let (_server, admin) = bound_server();
    sudo::runs(&admin);
    sudo::starts_and_cancels(&admin);
    let checked = admin.get("/clusters/hall/check").expect(200).json();
    assert!(checked["version"].as_str().unwrap().starts_with("slurm "), "{checked:#}");
    assert_eq!(wrong_settings(&admin), Vec::<String>::new(), "a check calls nothing else either");
}
