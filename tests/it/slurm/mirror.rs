//! Quotas as Slurm's accounts, on a real slurmdbd. The server's account is no root there, but an
//! operator of Slurm.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::{Executor, StopCause};
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::quota::{Pool, Queue, QueueRecord, Quota, Resource};
use cubeloom_domain::slurm::SlurmMirror;
use cubeloom_testkit::conformance::{Harness, PATIENCE, Program, random, run, signed, until_executed};

use super::executor::OnSlurm;
use super::harness::told;
use super::server::in_front;

pub fn slurm(program: &str, words: &[&str]) -> String {
    let done = Command::new(program).args(words).env("SLURM_CONF", told("SLURM_CONF")).output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
}

/// A server whose `sacctmgr` runs as an account, and notes what it is asked.
fn mirrored(prefix: &str, account: &str, name: &str) -> OnSlurm {
    let as_account = format!("setpriv --reuid {account} --regid {account} --init-groups --");
    let text = format!("echo \"$*\" >>HERE/calls\nexec {as_account} /usr/bin/sacctmgr \"$@\"\n");
    OnSlurm::with(|config| {
        in_front(config, "sacctmgr", &text);
        config.mirror = Some(SlurmMirror { prefix: prefix.into() });
        config.name = name.into();
    })
}

fn calls(server: &OnSlurm) -> Vec<String> {
    let file: PathBuf = server.ledger().with_file_name("bin").join("calls");
    fs::read_to_string(file).unwrap_or_default().lines().map(ToOwned::to_owned).collect()
}

fn record(queue: Queue, parent: Option<&str>, cluster: &str, quota: Quota) -> QueueRecord {
    let quotas = [(Pool::of(cluster), quota)].into();
    QueueRecord { queue, parent: parent.map(Into::into), quotas, revision: 1 }
}

/// The project of the jobs with a processor a person, in a group.
fn tree(project: &str, cluster: &str) -> Arc<Vec<QueueRecord>> {
    let limit = [(Resource::Cpu, 4000), (Resource::Memory, 3 << 30)].into_iter().collect();
    let per_person = [(Resource::Cpu, 1000)].into_iter().collect();
    let own = Quota { limit, per_person, weight: 7, ..Quota::default() };
    Arc::new(vec![
        record(Queue::Group("all".into()), None, cluster, Quota::default()),
        record(Queue::Project(project.into()), Some("all"), cluster, own),
    ])
}

/// Waits until the survey says of the accounts what is waited for.
async fn surveyed(server: &OnSlurm, holds: impl Fn(&str, bool) -> bool) {
    let began = Instant::now();
    loop {
        let survey = server.inner().survey("p").unwrap().await;
        if survey.findings.iter().any(|one| holds(&format!("{}: {:?}", one.name, one.detail), one.found)) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{survey:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Of two jobs of a person one runs, and the other waits with this word of Slurm's.
async fn one_waits(server: &OnSlurm, word: &str) -> [AttemptKey; 2] {
    let submissions = ["sleep 600", "true"].map(|rest| server.submission(&Program::shell(&signed(rest))));
    let keys = submissions.clone().map(|one| one.job.key.clone());
    let [first, second] = submissions;
    server.executor().submit(first).await;
    until_executed(server, &keys[0], 1).await;
    server.executor().submit(second).await;
    let began = Instant::now();
    loop {
        let told = server.executor().notices(&keys[1]).await;
        if told.iter().any(|one| one.reason == word) {
            return keys;
        }
        assert!(began.elapsed() < PATIENCE, "{told:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The one that waits begins when the other has ended.
async fn the_other_goes_on(server: &OnSlurm, keys: &[AttemptKey; 2]) {
    server.executor().cancel(&keys[0], StopCause::Cancelled, Duration::from_secs(1)).await;
    assert_eq!(server.recorder().ended(&keys[1]).await.outcome, Outcome::Succeeded);
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quotas_are_accounts_that_bind_jobs_and_go_with_them() {
    let (prefix, operator) = (format!("t{:x}-", random()), told("CUBELOOM_TEST_SLURM_SERVER"));
    slurm("sacctmgr", &["-i", "add", "user", &operator, "account=root", "adminlevel=operator"]);
    // A site's own accounts with such names.
    let own = ["physics", "p-own"].map(|name| format!("{prefix}{name}"));
    for name in &own {
        slurm("sacctmgr", &["-i", "add", "account", name, "description=ours", "organization=ours"]);
    }
    let server = mirrored(&prefix, &operator, "slurm");
    let project = server.job(&Program::shell("true")).project;
    let tree = tree(&project, "slurm");
    server.inner().share(&tree);
    let (account, group) = (format!("{prefix}p-{project}"), format!("{prefix}g-all"));
    surveyed(&server, |said, found| found && said.starts_with(&account)).await;
    let fields = "format=Account,ParentName,Fairshare,GrpTRES";
    let listed = || slurm("sacctmgr", &["-nP", "show", "assoc", "user=", fields]);
    let line = listed().lines().find(|line| line.starts_with(&account)).map(ToOwned::to_owned);
    assert_eq!(line.unwrap_or_else(|| panic!("{}", listed())), format!("{account}|{group}|7|cpu=4,mem=3G"));

    // One of a person's jobs runs, the other waits, in Slurm's words; both are counted for the project's account.
    let keys = one_waits(&server, "AssocGrpCpuLimit").await;
    let shown = slurm("squeue", &["-h", "-o", "%j %a"]);
    for key in &keys {
        assert!(shown.contains(&format!("{} {account}", key.object_name())), "{shown}");
    }
    the_other_goes_on(&server, &keys).await;

    // What is as it is to be is left alone.
    let before = calls(&server).len();
    server.inner().share(&tree);
    let began = Instant::now();
    while calls(&server).len() < before + 2 {
        assert!(began.elapsed() < PATIENCE, "nobody looks");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let new = calls(&server).split_off(before);
    assert!(new.iter().all(|call| call.contains(" show ")), "{new:?}");

    // Without quotas nothing of it is left, and what is another's stays.
    server.inner().share(&Arc::default());
    let began = Instant::now();
    while listed().contains(&account) || listed().contains(&group) {
        assert!(began.elapsed() < PATIENCE, "{}", listed());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    for name in own.iter().map(String::as_str).chain(["vision"]) {
        assert!(listed().contains(&format!("{name}|root")), "{}", listed());
    }
    let findings = server.inner().survey("p").unwrap().await.findings;
    assert!(findings.iter().all(|one| one.name != own[1]), "it is in nobody's way: {findings:?}");
    for name in &own {
        slurm("sacctmgr", &["-i", "delete", "account", &format!("name={name}")]);
    }
    let (_, ended) = run(&server, &Program::shell(&signed(""))).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "it goes on with the account that the facts name");
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_slurm_does_not_take_is_told_and_keeps_no_job_from_running() {
    let prefix = format!("t{:x}-", random());
    let server = mirrored(&prefix, &told("CUBELOOM_TEST_SLURM_MEMBER"), "slurm");
    let project = server.job(&Program::shell("true")).project;
    server.inner().share(&tree(&project, "slurm"));
    surveyed(&server, |said, found| !found && said.starts_with(&prefix) && said.contains("denied")).await;
    let (_, ended) = run(&server, &Program::shell(&signed(""))).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
}

/// A quality of service that an administrator has made.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quality_of_service_that_holds_a_job_back_is_told_in_slurms_words() {
    let (qos, member) = (format!("tight{:x}", random()), told("CUBELOOM_TEST_SLURM_MEMBER"));
    slurm("sacctmgr", &["-i", "add", "qos", &qos, "MaxTRESPerUser=cpu=1"]);
    let (who, more) = (format!("name={member}"), format!("qos+={qos}"));
    slurm("sacctmgr", &["-i", "modify", "user", "where", &who, "set", &more]);
    let server = OnSlurm::with(|config| config.facts.qos = Some(qos));
    let keys = one_waits(&server, "QOSMaxCpuPerUserLimit").await;
    the_other_goes_on(&server, &keys).await;
}
