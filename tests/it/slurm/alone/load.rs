//! Requests that a server sends to the controller, as counted by `sdiag`. The server runs under its own
//! account, so that its requests are distinguishable from those of jobs. Over slurmrestd, that account's
//! tokens query all jobs.

#![allow(clippy::print_stdout, reason = "figures are what the benchmark is for")]

use std::time::{Duration, Instant};

use cubeloom_domain::outcome::Outcome;
use cubeloom_testkit::conformance::{Harness, Program, executions, signed};
use serde_json::Value;

use crate::api::support::{Client, Server};
use crate::cluster::product::ended;
use crate::slurm::harness::{slurm, told};
use crate::slurm::limits::limited;
use crate::slurm::{product, rest, sudo};

/// Maximum requests per second by a server, however many tasks there are.
const MOST: f64 = 2.0;

/// Maximum requests for a job of one worker, including its submission.
const MOST_OF_A_JOB: u64 = 5;

/// Requests that the controller served since its counters were last reset.
#[derive(Debug)]
struct Asked {
    /// By the server's account.
    server: u64,
    /// By the account of the jobs: submissions, and requests from within jobs.
    jobs: u64,
    /// Submitted jobs, out of all requests.
    submitted: u64,
    /// All requests, by any account.
    all: u64,
}

fn asked(account: &str) -> Asked {
    let text = slurm(&["sdiag"]);
    let count = |line: &str| -> u64 {
        let word = line.split_whitespace().find_map(|word| word.strip_prefix("count:"));
        word.unwrap_or_else(|| panic!("{line}")).parse().unwrap()
    };
    let of = |name: &str| {
        let is_of = |line: &&str| line.split_whitespace().next() == Some(name) && line.contains("count:");
        text.lines().find(is_of).map_or(0, count)
    };
    let by_user = text.split("statistics by user").nth(1).unwrap();
    Asked {
        server: of(account),
        jobs: of(&told("CUBELOOM_TEST_SLURM_MEMBER")),
        submitted: of("REQUEST_SUBMIT_BATCH_JOB"),
        all: by_user.lines().filter(|line| line.contains("count:")).map(count).sum(),
    }
}

/// Using Slurm's commands.
fn by_commands() -> (Server, Client, String) {
    let (server, admin) = sudo::with_cluster(|_| {});
    (server, admin, told("CUBELOOM_TEST_SLURM_SERVER"))
}

/// Using slurmrestd.
fn over_slurmrestd() -> (Server, Client, String) {
    let (server, admin) = rest::bound_server();
    (server, admin, told("CUBELOOM_TEST_SLURM_BOUND"))
}

/// Runs this many independent tasks. Returns the request counts and the duration.
fn run((_server, admin, account): &(Server, Client, String), tasks: usize) -> (Asked, Duration) {
    let task = |at: usize| {
        serde_json::json!({
            "name": format!("t{at}"), "template": "command", "arguments": {"command": ["true"]},
            "resources": {"cpu": "500m", "memory": "64Mi"},
        })
    };
    let tasks: Vec<Value> = (0..tasks).map(task).collect();
    let document = serde_json::json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "many", "cluster": "hall", "tasks": tasks,
    });
    slurm(&["sdiag", "--reset"]);
    let began = Instant::now();
    let run = product::start(admin, &document.to_string());
    let seen = ended(admin, &run);
    let (took, asked) = (began.elapsed(), asked(account));
    assert_eq!(seen["state"], "succeeded", "{seen:#}");
    (asked, took)
}

fn asks_at_most_twice_a_second(server: &(Server, Client, String)) {
    let tasks = 60;
    let (asked, took) = run(server, tasks);
    println!("{asked:?} in {took:?}");
    assert_eq!(asked.submitted, tasks as u64, "each task is submitted once: {asked:?}");
    // A submission, a step, and the query for its node's address.
    assert!(asked.jobs <= tasks as u64 * MOST_OF_A_JOB, "{asked:?}");
    // The first polls of a run may coincide.
    let most = took.as_secs_f64() * MOST + 2.0;
    assert!(asked.server >= 1 && (asked.server as f64) <= most, "{asked:?} in {took:?}");
}

#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn a_server_asks_at_most_twice_a_second() {
    asks_at_most_twice_a_second(&by_commands());
}

#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn a_server_asks_at_most_twice_a_second_over_slurmrestd() {
    asks_at_most_twice_a_second(&over_slurmrestd());
}

/// When an account's queue is full, one pending job polls for all of them.
#[ignore = "needs a Slurm: make test-slurm"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_is_asked_by_one_for_all() {
    let server = limited("MaxSubmitJobsPerUser=2", |_| {});
    let tasks = 24;
    slurm(&["sdiag", "--reset"]);
    let began = Instant::now();
    let mut keys = Vec::new();
    for _ in 0..tasks {
        let submission = server.submission(&Program::shell(&signed("sleep 1")));
        keys.push(submission.job.key.clone());
        server.executor().submit(submission).await;
    }
    for key in &keys {
        assert_eq!(server.recorder().ended(key).await.outcome, Outcome::Succeeded);
        assert_eq!(executions(&server, key), 1);
    }
    let (took, asked) = (began.elapsed(), asked(&told("CUBELOOM_TEST_SLURM_MEMBER")));
    println!("{asked:?} in {took:?}");
    // Submissions already in flight when the first is refused, then one at a time.
    let most = tasks as f64 + 8.0 + took.as_secs_f64();
    assert!(asked.submitted as f64 <= most, "{asked:?} in {took:?}");
}

#[ignore = "a benchmark: make bench-slurm"]
#[test]
fn bench_a_thousand_tasks() {
    let tasks = 1000;
    let (asked, took) = run(&by_commands(), tasks);
    let seconds = took.as_secs_f64();
    let a_second = |count: u64| format!("{:.2} a second", count as f64 / seconds);
    println!("| {tasks} tasks on Slurm | figure | goal |\n|---|---|---|");
    println!("| the run has succeeded | {seconds:.0} s |  |");
    println!(
        "| requests of the server | {}, {} | at most {MOST} a second |",
        asked.server,
        a_second(asked.server)
    );
    println!("| submissions | {}, {} | one a task |", asked.submitted, a_second(asked.submitted));
    println!(
        "| requests of the jobs, with their submissions | {}, {} |  |",
        asked.jobs,
        a_second(asked.jobs)
    );
    println!("| all requests, with those of the nodes | {}, {} |  |", asked.all, a_second(asked.all));
    assert!(asked.server as f64 / seconds <= MOST, "{asked:?} in {took:?}");
}
