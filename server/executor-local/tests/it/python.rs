//! Python environments, with a fake installer that hangs or refuses.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use cubeloom_domain::executor::{Event, StopCause};
use cubeloom_domain::job::{Job, PythonEnvironment};
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::{AttemptKey, Span};
use cubeloom_executor_local::is_for_installers;
use cubeloom_testkit::conformance::{Harness, PATIENCE, Program, failure};
use tokio::task::JoinSet;

use crate::harness::Local;

/// Submits a job whose packages an installer script of this text provides; `None` if a real installer would
/// be found first.
async fn submit(harness: &Local, installer: &str) -> Option<AttemptKey> {
    submit_with(harness, installer, |_| ()).await
}

async fn submit_with(harness: &Local, installer: &str, change: impl FnOnce(&mut Job)) -> Option<AttemptKey> {
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
        builds: Vec::new(),
    });
    change(&mut job);
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
async fn what_an_installer_started_goes_with_it() {
    let harness = Local::new();
    // With control groups, a separate session does not let it escape.
    let installer = "grep -q /python- /proc/self/cgroup && own=setsid; \
        $own sh -c 'echo $$ >begun; mv begun pid; exec sleep 1000' & wait";
    let Some(key) = submit(&harness, installer).await else { return };
    let pid = harness.data().join("cache/uv/pid");
    until("the installer to start something", || pid.exists()).await;
    let started = Path::new("/proc").join(fs::read_to_string(&pid).unwrap().trim());
    harness.executor().cancel(&key, StopCause::Cancelled, Duration::from_secs(5)).await;
    harness.recorder().ended(&key).await;
    let is_gone =
        || fs::read_to_string(started.join("status")).map_or(true, |text| text.contains("Z (zombie)"));
    until("what it started to end", is_gone).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tasks_timeout_ends_its_installer() {
    let harness = Local::new();
    let soon = |job: &mut Job| job.timeout = Some(Span(Duration::from_millis(300)));
    let Some(key) = submit_with(&harness, "exec sleep 1000", soon).await else { return };
    let ended = harness.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::Timeout);
    assert!(failure(&ended).message.contains("300ms"), "{}", failure(&ended).message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_who_is_no_project_installs_wheels_for_all_of_them() {
    let harness = Local::new();
    let Some(key) = submit(&harness, "echo \"$(id -u) $*\" >>said").await else { return };
    harness.recorder().ended(&key).await;
    let said = fs::read_to_string(harness.data().join("cache/uv/said")).unwrap();
    let install = said.lines().last().unwrap();
    assert!(install.contains("pip install") && install.contains("--no-build -- a-package==1"), "{said}");
    let mode = fs::metadata(harness.data().join("cache/uv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o700, "what is fetched tells what others use");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_built_from_sources_is_built_as_the_project_in_folders_of_its_own() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let installer = "echo \"$(id -u) $(stat -c %u \"$HOME\") $*\" >>said";
    let allowed = Local::with(|config| config.python_sources = true);
    let of_template = Local::new();
    let Some(first) = submit(&allowed, installer).await else { return };
    let builds = |job: &mut Job| job.python.as_mut().unwrap().builds = vec!["A_package".into()];
    let Some(second) = submit_with(&of_template, installer, builds).await else { return };
    for (harness, key) in [(&allowed, first), (&of_template, second)] {
        harness.recorder().ended(&key).await;
        // The first project's uid.
        let user = 61_000;
        let said = fs::read_to_string(harness.data().join(format!("cache/uv-{user}/said"))).unwrap();
        assert!(said.lines().all(|line| line.starts_with(&format!("{user} {user} "))), "{said}");
        let venvs = fs::metadata(harness.data().join(format!("venvs/{user}"))).unwrap();
        assert_eq!((venvs.uid(), venvs.gid(), venvs.mode() & 0o7777), (0, user, 0o710));
        assert!(!harness.data().join("cache/uv").exists());
    }
    let said = fs::read_to_string(allowed.data().join("cache/uv-61000/said")).unwrap();
    assert!(!said.contains("--no-build"), "{said}");
    let said = fs::read_to_string(of_template.data().join("cache/uv-61000/said")).unwrap();
    assert!(
        said.contains("--no-deps -- a-package==1") && said.contains("--no-build -- a-package==1"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_package_of_the_index_reaches_no_installer() {
    let harness = Local::new();
    let requires = |job: &mut Job| {
        job.python.as_mut().unwrap().requirements = vec!["evil @ file:///srv/evil".into()];
    };
    let Some(key) = submit_with(&harness, "echo ran >ran", requires).await else { return };
    let ended = harness.recorder().ended(&key).await;
    assert!(failure(&ended).message.contains("`evil @ file:///srv/evil`"), "{}", failure(&ended).message);
    assert!(!harness.data().join("cache/uv/ran").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_installer_has_listed_variables_only() {
    let harness = Local::with(|config| {
        config.installer_env.insert("UV_INDEX_URL".into(), "https://packages.example/simple".into());
    });
    let Some(key) = submit(&harness, "env >env; exit 2").await else { return };
    harness.recorder().ended(&key).await;
    let seen = fs::read_to_string(harness.data().join("cache/uv/env")).unwrap();
    let names = seen.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    // The shell adds some variables.
    let others: Vec<&str> = names
        .filter(|name| !is_for_installers(name) && !["HOME", "PWD", "SHLVL", "_"].contains(name))
        .collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(seen.contains("https://packages.example/simple"), "{seen}");
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "no {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
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
            builds: Vec::new(),
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
