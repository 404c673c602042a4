//! The controller restarts, and nodes fail, while jobs run and are being submitted: no job is lost or run
//! twice.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cubeloom_domain::clusters::Standing;
use cubeloom_domain::executor::Executor;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::slurm::SlurmNodeGroup;
use cubeloom_testkit::conformance::{
    Harness, PATIENCE, Program, assert_gone, executions, failure, processes_with, run, signed, until_executed,
};
use serde_json::json;

use crate::cluster::product::{ended, until};
use crate::slurm::executor::{OnSlurm, ended_late, with_lines};
use crate::slurm::harness::{slurm, told};
use crate::slurm::product;

/// The node that runs, or ran, a worker of an attempt.
fn node_of(attempt: &Path, rank: usize) -> String {
    let places = fs::read_to_string(attempt.join("places")).unwrap();
    places.lines().nth(rank).unwrap().split(' ').nth(1).unwrap().to_owned()
}

/// A stopped daemon of the cluster: `munge`, `ctld`, `rest`, or a node's slurmd. Dropping this starts it
/// again.
pub struct Held {
    name: String,
    hold: PathBuf,
}

impl Held {
    /// Stops a daemon, and waits until it is gone.
    pub fn end(name: &str, signal: &str) -> Self {
        let state = PathBuf::from(told("CUBELOOM_TEST_SLURM_STATE"));
        let pid = fs::read_to_string(state.join(name).join("pid")).unwrap().trim().to_owned();
        let hold = state.join("hold").join(name);
        fs::write(&hold, "").unwrap();
        let held = Self { name: name.into(), hold };
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let began = Instant::now();
        while Path::new("/proc").join(&pid).exists() {
            assert!(began.elapsed() < PATIENCE, "{name} does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        held
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.hold);
        let began = Instant::now();
        let is_back = || match self.name.as_str() {
            "munge" | "ctld" => slurm(&["scontrol", "ping"]).contains("UP"),
            "rest" => {
                let place = format!("127.0.0.1:{}", told("CUBELOOM_TEST_SLURM_REST"));
                std::net::TcpStream::connect(place).is_ok()
            }
            node => slurm(&["sinfo", "-h", "-n", node, "-p", "all", "-o", "%T"]).trim() == "idle",
        };
        while !is_back() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// A node that an administrator set to DOWN. Dropping this resumes it.
struct Down(String);

impl Down {
    fn call(node: &str) -> Self {
        slurm(&["scontrol", "update", &format!("nodename={node}"), "state=down", "reason=test"]);
        Self(node.into())
    }
}

impl Drop for Down {
    fn drop(&mut self) {
        slurm(&["scontrol", "update", &format!("nodename={}", self.0), "state=resume"]);
        let began = Instant::now();
        let state = || slurm(&["sinfo", "-h", "-n", &self.0, "-p", "all", "-o", "%T"]);
        while state().trim() != "idle" && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Stops a daemon while a job of `seconds` runs and `coming` jobs are being submitted; starts it again after
/// as long.
pub async fn starts_again(
    cluster: &OnSlurm,
    (part, signal): (&'static str, &'static str),
    seconds: u64,
    coming: usize,
) {
    let running = cluster.submission(&Program::shell(&signed(&format!("sleep {seconds}"))).workers(2));
    let mut keys = vec![running.job.key.clone()];
    cluster.executor().submit(running).await;
    until_executed(cluster, &keys[0], 2).await;
    // Slurm has some of these when the daemon stops and gets others later; for some of them the response is
    // lost.
    for _ in 0..coming {
        let submission = cluster.submission(&Program::shell(&signed("")));
        keys.push(submission.job.key.clone());
        cluster.executor().submit(submission).await;
    }
    let held = tokio::task::spawn_blocking(move || Held::end(part, signal)).await.unwrap();
    let began = Instant::now();
    while !matches!(cluster.executor().standing(), Standing::Away { .. }) {
        assert!(began.elapsed() < PATIENCE, "nobody sees that {part} is away");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let submission = cluster.submission(&Program::shell(&signed("")));
    let later = submission.job.key.clone();
    cluster.executor().submit(submission).await;
    // The first job ends while the daemon is down.
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    for key in [&keys[0], &later] {
        assert_eq!(cluster.recorder().ends(key), 0, "{:?}", cluster.recorder().events(key));
    }
    tokio::task::spawn_blocking(|| drop(held)).await.unwrap();
    keys.push(later);
    for (at, key) in keys.iter().enumerate() {
        assert_eq!(cluster.recorder().ended(key).await.outcome, Outcome::Succeeded, "job {at}");
        assert_eq!(executions(cluster, key), if at == 0 { 2 } else { 1 }, "job {at}");
    }
    assert_eq!(cluster.executor().standing(), Standing::Connected);
}

#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_starts_again_loses_nothing_and_doubles_nothing() {
    starts_again(&OnSlurm::new(), ("ctld", "-TERM"), 4, 6).await;
}

/// Without munge, neither Slurm's daemons nor scripts can authenticate. No job is being submitted when munge
/// stops: Slurm would start a job again that it is just starting, some minutes later.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn munge_that_ends_and_starts_again_loses_nothing_and_doubles_nothing() {
    starts_again(&OnSlurm::new(), ("munge", "-TERM"), 4, 0).await;
}

/// A script that cannot reach munge when starting its worker runs nothing. The job is not at fault: its
/// attempt is reported as lost and retried.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_finds_munge_away_is_told_as_lost() {
    let cluster = OnSlurm::new();
    let waits = "touch begun; until [ -e go-on ]; do sleep 0.1; done";
    let submission = cluster.submission(&Program::shell(&signed("")));
    let submission = with_lines(submission, waits, "# Where the workers are");
    let key = submission.job.key.clone();
    let folder = cluster.attempt(&key);
    cluster.executor().submit(submission).await;
    comes(&folder.join("begun")).await;
    let held = tokio::task::spawn_blocking(|| Held::end("munge", "-TERM")).await.unwrap();
    fs::write(folder.join("go-on"), "").unwrap();
    comes(&folder.join("stop")).await;
    tokio::task::spawn_blocking(|| drop(held)).await.unwrap();
    let ended = ended_late(&cluster, &key).await;
    assert_eq!(failure(&ended).kind, FailureKind::Lost, "{ended:?}");
    assert!(failure(&ended).message.starts_with("Slurm did not respond to its script: "), "{ended:?}");
    assert_eq!(executions(&cluster, &key), 0);
}

/// Waits for a file to exist.
async fn comes(file: &Path) {
    let began = Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < PATIENCE, "{} does not come", file.display());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A node group of all nodes with one standby node.
fn with_a_spare() -> OnSlurm {
    OnSlurm::with(|config| {
        let group = SlurmNodeGroup { partition: Some("all".into()), spares: 1, ..SlurmNodeGroup::default() };
        config.facts.node_groups.insert("all".into(), group);
    })
}

/// The nodes that take jobs, and the standby nodes, once there are this many of each.
async fn nodes(cluster: &OnSlurm, works: usize, kept: usize) -> (Vec<String>, Vec<String>) {
    let began = Instant::now();
    loop {
        let facts = cluster.inner().facts();
        let names: Vec<String> = facts.nodes.into_iter().map(|node| node.name).collect();
        let spares = facts.slurm.map(|facts| facts.spare_nodes).unwrap_or_default();
        if (names.len(), spares.len()) == (works, kept) {
            return (names, spares);
        }
        assert!(began.elapsed() < PATIENCE, "{names:?} and the spares {spares:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Runs a job of this many workers, spread over all allowed nodes. Returns the distinct nodes.
async fn spread(cluster: &OnSlurm, workers: u32) -> BTreeSet<String> {
    let (key, ended) = run(cluster, &Program::shell(&signed("")).workers(workers)).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    (0..workers as usize).map(|rank| node_of(&cluster.attempt(&key), rank)).collect()
}

/// A standby node takes jobs when another node of its group is DOWN. When that node recovers, it becomes the
/// standby node.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spare_works_in_the_place_of_a_node_that_is_called_down() {
    let cluster = with_a_spare();
    let (works, spares) = nodes(&cluster, 3, 1).await;
    assert_eq!(spread(&cluster, 8).await, works.iter().cloned().collect(), "the spare is kept free");
    let (lost, spare) = (works[0].clone(), spares[0].clone());
    let down = tokio::task::spawn_blocking(move || Down::call(&lost)).await.unwrap();
    let (works, _) = nodes(&cluster, 3, 0).await;
    assert!(works.contains(&spare), "{works:?}");
    assert!(spread(&cluster, 8).await.contains(&spare));
    let lost = down.0.clone();
    tokio::task::spawn_blocking(move || drop(down)).await.unwrap();
    assert_eq!(nodes(&cluster, 3, 1).await.1, [lost]);
    // A node that is cordoned here is replaced at once.
    cluster.inner().set_aside([(spare.clone(), "its fan".to_owned())].into());
    let (works, _) = nodes(&cluster, 3, 0).await;
    assert!(!works.contains(&spare), "{works:?}");
}

/// A node is set to DOWN under one of two workers: the attempt is lost with Slurm's reason, and the other
/// worker ends, too.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_called_down_loses_the_attempts_on_it() {
    let cluster = OnSlurm::new();
    let submission = cluster.submission(&Program::shell(&signed("sleep 600")).workers(2));
    let key = submission.job.key.clone();
    cluster.executor().submit(submission).await;
    until_executed(&cluster, &key, 2).await;
    let node = node_of(&cluster.attempt(&key), 1);
    let down = Down::call(&node);
    let ended = cluster.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::Lost, "{ended:?}");
    assert!(failure(&ended).message.contains("Slurm lost a node of the job"), "{ended:?}");
    assert_eq!(executions(&cluster, &key), 2);
    assert_gone(&cluster, &key);
    tokio::task::spawn_blocking(|| drop(down)).await.unwrap();
}

/// A node's slurmd is killed, and Slurm sets the node to DOWN while its processes run on: they end, and the
/// task is retried on another node.
#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn a_lost_node_is_told_and_its_task_tried_again_elsewhere() {
    let body = product::body();
    let (_server, admin) = product::with_cluster(&body);
    let document = r#"
apiVersion: cubeloom/v1
kind: Pipeline
name: lost
cluster: hall
tasks:
  - name: once
    template: indexed
    arguments:
      workers: 1
      requirements: []
      command: [sh, -c, 'echo ran >>"$CUBELOOM_RUN_DIR/ran"; [ $(wc -l <"$CUBELOOM_RUN_DIR/ran") -gt 1 ] || sleep 600']
    resources: {cpu: 500m, memory: 64Mi}
"#;
    let run = product::start(&admin, document);
    let workspace = body["slurm"]["facts"]["workspace"].as_str().unwrap();
    let folder = Path::new(workspace).join("runs").join(&run);
    let ran = || fs::read_to_string(folder.join("ran")).unwrap_or_default().lines().count();
    until("the worker runs", || ran() > 0);
    let node_of = |attempt: u32| node_of(&folder.join(format!(".attempts/once/0/{attempt}")), 0);
    let node = node_of(1);
    let held = Held::end(&node, "-KILL");
    let down = Down::call(&node);
    let seen = ended(&admin, &run);
    let attempts = admin.get(&format!("/runs/{run}/attempts")).expect(200).json();
    assert_eq!(seen["state"], "succeeded", "{attempts:#}");
    assert_eq!(
        processes_with(&format!("CUBELOOM_RUN={run}")),
        0,
        "the first attempt runs on beside the second"
    );
    let listed = attempts["items"].as_array().unwrap();
    assert_eq!(listed.len(), 2, "{attempts:#}");
    let first = listed.iter().find(|attempt| attempt["attempt"] == json!(1)).unwrap();
    assert_eq!(first["failure"]["kind"], "lost", "{attempts:#}");
    let message = first["failure"]["message"].as_str().unwrap();
    assert!(message.contains("Slurm lost a node of the job") && message.contains(&node), "{attempts:#}");
    assert_eq!(ran(), 2);
    assert_ne!(node_of(2), node);
    // A slurmd that registers resumes its node.
    drop(held);
    drop(down);
}
