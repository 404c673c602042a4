//! Python environments, with an installer that does what a test needs: hang, or refuse.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::{Event, StopCause};
use cubeloom_domain::job::PythonEnvironment;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_testkit::conformance::{Harness, Program, failure};
use tokio::task::JoinSet;

use crate::harness::Local;

/// Submits a job whose packages an installer of this text brings; `None` where a real one would be found first.
async fn submit(harness: &Local, installer: &str) -> Option<AttemptKey> {
    if Command::new("uv").arg("--version").output().is_ok() {
        eprintln!("skipped: the uv on the PATH would be used");
        return None;
    }
    let bin = harness.data().join("tools/uv/bin");
    fs::create_dir_all(&bin).unwrap();
    let text = format!("#!/bin/sh\ntest \"$1\" = --version && exit 0\n{installer}\n");
    fs::write(bin.join("uv"), text).unwrap();
    fs::set_permissions(bin.join("uv"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut job = Program::words(&["python3", "-c", "print(1)"]).job(Local::key());
    job.python = Some(PythonEnvironment {
        interpreter: "python3".into(),
        requirements: vec!["a-package==1".into()],
        system_site_packages: false,
        provided: Vec::new(),
    });
    let key = job.key.clone();
    harness.executor().submit(harness.submission_of(job)).await;
    Some(key)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_cancelled_while_its_environment_is_made() {
    let harness = Local::new();
    let Some(key) = submit(&harness, "exec sleep 60").await else { return };
    let told = |event: &Event| match event {
        Event::Preparing(what) => Some(what.clone()),
        _ => None,
    };
    let what = harness.recorder().first(&key, "what is being made", told).await;
    assert!(what.contains("a-package==1"), "{what}");
    harness.executor().cancel(&key, StopCause::Cancelled, Duration::from_secs(5)).await;
    let ended = harness.recorder().ended(&key).await;
    assert_eq!((ended.outcome, ended.started_at), (Outcome::Cancelled, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_environment_that_cannot_be_made_says_why() {
    let harness = Local::new();
    let Some(key) = submit(&harness, "echo 'no version of a-package' >&2; exit 2").await else { return };
    let ended = harness.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::CouldNotStart);
    assert!(failure(&ended).message.contains("no version of a-package"), "{}", failure(&ended).message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_jobs_of_a_machine_may_start_together() {
    let harness = Local::new();
    let jobs = (0..16).map(|_| {
        let mut job = Program::words(&["python3", "-c", "print(1)"]).job(Local::key());
        job.python = Some(PythonEnvironment {
            interpreter: "python3".into(),
            requirements: Vec::new(),
            system_site_packages: false,
            provided: Vec::new(),
        });
        job
    });
    let submissions: Vec<_> = jobs.map(|job| harness.submission_of(job)).collect();
    let keys: Vec<AttemptKey> = submissions.iter().map(|one| one.job.key.clone()).collect();
    let mut together = JoinSet::new();
    for submission in submissions {
        let executor = harness.executor();
        together.spawn(async move { executor.submit(submission).await });
    }
    together.join_all().await;
    for key in keys {
        let ended = harness.recorder().ended(&key).await;
        assert_eq!(ended.outcome, Outcome::Succeeded, "{ended:?}");
    }
}
