//! Quotas mirrored as Slurm accounts, on a real slurmdbd. The server's account is a Slurm operator there, not
//! root.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cubeloom_domain::executor::Executor;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::quota::{Pool, Queue, QueueRecord, Quota, Resource};
use cubeloom_domain::slurm::SlurmMirror;
use cubeloom_executor_slurm::PeopleOf;
use cubeloom_testkit::conformance::{Harness, PATIENCE, Program, random, run, signed};

use super::executor::OnSlurm;
use super::harness::{slurm, told};
use super::limits::{one_waits, the_other_goes_on};
use super::server::in_front;

/// A server whose `sacctmgr` runs as an account and logs its calls.
fn mirrored(prefix: &str, account: &str, name: &str, people: Option<Arc<PeopleOf>>) -> OnSlurm {
    let as_account = format!("setpriv --reuid {account} --regid {account} --init-groups --");
    let text = format!("echo \"$*\" >>HERE/calls\nexec {as_account} /usr/bin/sacctmgr \"$@\"\n");
    OnSlurm::with(|config| {
        in_front(config, "sacctmgr", &text);
        config.mirror = Some(SlurmMirror { prefix: prefix.into() });
        config.name = name.into();
        config.people = people;
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

/// The project of the jobs, limited to one CPU per person, in a group.
fn tree(project: &str, cluster: &str) -> Arc<Vec<QueueRecord>> {
    let limit = [(Resource::Cpu, 4000), (Resource::Memory, 3 << 30)].into_iter().collect();
    let per_person = [(Resource::Cpu, 1000)].into_iter().collect();
    let own = Quota { limit, per_person, weight: 7, ..Quota::default() };
    Arc::new(vec![
        record(Queue::Group("all".into()), None, cluster, Quota::default()),
        record(Queue::Project(project.into()), Some("all"), cluster, own),
    ])
}

/// Waits until the survey reports the expected state of the accounts.
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

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quotas_are_accounts_that_bind_jobs_and_go_with_them() {
    let (prefix, operator) = (format!("t{:x}-", random()), told("CUBELOOM_TEST_SLURM_SERVER"));
    slurm(&["sacctmgr", "-i", "add", "user", &operator, "account=root", "adminlevel=operator"]);
    // Accounts of the site with such names.
    let own = ["physics", "p-own"].map(|name| format!("{prefix}{name}"));
    for name in &own {
        slurm(&["sacctmgr", "-i", "add", "account", name, "description=ours", "organization=ours"]);
    }
    let server = mirrored(&prefix, &operator, "slurm", None);
    let project = server.job(&Program::shell("true")).project;
    let tree = tree(&project, "slurm");
    server.inner().share(&tree);
    let (account, group) = (format!("{prefix}p-{project}"), format!("{prefix}g-all"));
    surveyed(&server, |said, found| found && said.starts_with(&account)).await;
    let fields = "format=Account,ParentName,Fairshare,GrpTRES";
    let listed = || slurm(&["sacctmgr", "-nP", "show", "assoc", "user=", fields]);
    let line = listed().lines().find(|line| line.starts_with(&account)).map(ToOwned::to_owned);
    assert_eq!(line.unwrap_or_else(|| panic!("{}", listed())), format!("{account}|{group}|7|cpu=4,mem=3G"));

    // One of the person's jobs runs; the other is pending with Slurm's reason. Both are charged to the
    // project's account.
    let keys = one_waits(&server, "AssocGrpCpuLimit").await;
    let shown = slurm(&["squeue", "-h", "-o", "%j %a"]);
    for key in &keys {
        assert!(shown.contains(&format!("{} {account}", key.object_name())), "{shown}");
    }
    the_other_goes_on(&server, &keys).await;

    // An account that is up to date is left alone.
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

    // Without quotas, all mirrored accounts are removed, and the others stay.
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
        slurm(&["sacctmgr", "-i", "delete", "account", &format!("name={name}")]);
    }
    let (_, ended) = run(&server, &Program::shell(&signed(""))).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "it goes on with the account that the facts name");
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_slurm_does_not_take_is_told_and_keeps_no_job_from_running() {
    let prefix = format!("t{:x}-", random());
    let server = mirrored(&prefix, &told("CUBELOOM_TEST_SLURM_MEMBER"), "slurm", None);
    let project = server.job(&Program::shell("true")).project;
    server.inner().share(&tree(&project, "slurm"));
    surveyed(&server, |said, found| !found && said.starts_with(&prefix) && said.contains("denied")).await;
    let (_, ended) = run(&server, &Program::shell(&signed(""))).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
}

/// Submits a job for an account by hand, and waits until accounting shows it as running. Returns its id.
async fn by_hand(person: &str, account: &str) -> String {
    let began = Instant::now();
    let id = loop {
        let mut sbatch = Command::new("setpriv");
        sbatch.args(["--reuid", person, "--regid", person, "--init-groups", "--", "sbatch", "--parsable"]);
        sbatch.arg(format!("--account={account}"));
        sbatch.args(["--partition=all", "--mem=16M", "--output=/dev/null", "--wrap=sleep 600"]);
        sbatch
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("SLURM_CONF", told("SLURM_CONF"))
            .current_dir("/");
        let done = sbatch.output().unwrap();
        if done.status.success() {
            break String::from_utf8(done.stdout).unwrap().trim().to_owned();
        }
        // slurmctld learns of an association a moment later.
        assert!(began.elapsed() < PATIENCE, "{}", String::from_utf8_lossy(&done.stderr));
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    let known = || slurm(&["sacct", "-n", "-X", "-j", &id, "-o", "State"]);
    while !known().contains("RUNNING") {
        assert!(began.elapsed() < PATIENCE * 2, "{}", known());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    id
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_leaves_a_project_leaves_its_account_once_no_job_is_there() {
    let (prefix, operator) = (format!("t{:x}-", random()), told("CUBELOOM_TEST_SLURM_SERVER"));
    let stranger = told("CUBELOOM_TEST_SLURM_STRANGER");
    slurm(&["sacctmgr", "-i", "add", "user", &operator, "account=root", "adminlevel=operator"]);
    let people: BTreeSet<String> = ["tester", "stranger"].map(ToOwned::to_owned).into();
    let people = Arc::new(Mutex::new(people));
    let now = Arc::clone(&people);
    let people_of: Arc<PeopleOf> = Arc::new(move |_| {
        let people = now.lock().unwrap().clone();
        Box::pin(async move { Ok(people) })
    });
    let server = mirrored(&prefix, &operator, "slurm", Some(people_of));
    let project = server.job(&Program::shell("true")).project;
    let tree = tree(&project, "slurm");
    server.inner().share(&tree);
    let account = format!("{prefix}p-{project}");
    surveyed(&server, |said, found| found && said.starts_with(&account)).await;

    // One association as a first job would have created it, and one that no job here runs as.
    for person in [&stranger, &operator] {
        slurm(&["sacctmgr", "-i", "add", "user", person, &format!("account={account}")]);
    }
    let listed = || slurm(&["sacctmgr", "-nP", "show", "assoc", "format=Account,User"]);
    let is_in = |person: &str| listed().lines().any(|line| line == format!("{account}|{person}"));
    let id = by_hand(&stranger, &account).await;
    people.lock().unwrap().remove("stranger");
    server.inner().share(&tree);
    let of_stranger = format!("{account} ({stranger})");
    surveyed(&server, |said, found| !found && said.starts_with(&of_stranger)).await;
    assert!(is_in(&stranger), "its job runs: {}", listed());

    slurm(&["scancel", &id]);
    let began = Instant::now();
    while is_in(&stranger) {
        assert!(began.elapsed() < PATIENCE, "{}", listed());
        server.inner().share(&tree);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert!(is_in(&operator), "somebody else has put it there: {}", listed());

    server.inner().share(&Arc::default());
    let began = Instant::now();
    while listed().contains(&prefix) {
        assert!(began.elapsed() < PATIENCE, "{}", listed());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
