//! Thousands of one-pod tasks at once, beside a bare client that makes the same Jobs as fast as the API server takes them:
//! `make bench-cluster`.

#![allow(clippy::print_stdout, reason = "figures are what it is for")]

use std::fs;
use std::time::Instant;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::batch::v1::Job;
use kube::Api;
use kube::api::{ListParams, PostParams};
use serde_json::{Value, json};

use super::kubectl::{Kubectl, Object};
use super::product::ended;
use super::simulated::{Place, add, start};
use super::tally::Tally;
use crate::api::support::{Server, Who};
use crate::support::TestApp;

const TASKS: usize = 2000;
const ROUNDS: usize = 3;
/// Room for all pods at once.
const NODES: usize = 20;
/// Requests of the bare client that are under way at once.
const AT_ONCE: usize = 128;

/// How long it took from the start, in seconds: until the last Job was there, until the last one had succeeded.
struct Times {
    made: f64,
    done: f64,
}

/// The same until the server said that the run had succeeded, and the most memory that it had, in MB.
struct Ours {
    times: Times,
    run: f64,
    memory: f64,
}

#[ignore = "a benchmark"]
#[test]
fn two_thousand_tasks_at_once() {
    let rounds: Vec<(Ours, Times)> = (0..ROUNDS).map(|_| round()).collect();
    println!("| {TASKS} one-pod tasks | median of {ROUNDS} | min - max | goal |\n|---|---|---|---|");
    row("the last Job is made", "s", rounds.iter().map(|(ours, _)| ours.times.made), "");
    row("the last Job is made, bare client", "s", rounds.iter().map(|(_, bare)| bare.made), "");
    row("the last Job has succeeded", "s", rounds.iter().map(|(ours, _)| ours.times.done), "");
    row("the last Job has succeeded, bare client", "s", rounds.iter().map(|(_, bare)| bare.done), "");
    row("the run has succeeded", "s", rounds.iter().map(|(ours, _)| ours.run), "at most 20");
    row("memory of the server, at most", "MB", rounds.iter().map(|(ours, _)| ours.memory), "at most 100");
}

fn row(name: &str, unit: &str, values: impl Iterator<Item = f64>, goal: &str) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (least, most, middle) = (values[0], values[values.len() - 1], values[values.len() / 2]);
    println!("| {name} | {middle:.1} {unit} | {least:.1} - {most:.1} | {goal} |");
}

fn round() -> (Ours, Times) {
    let place = Place::new();
    make_nodes(&place);
    let (ours, jobs) = ours(&place);
    assert_eq!(jobs.len(), TASKS);
    drop(place);
    let place = Place::new();
    let bare = place.runtime.block_on(bare(&place, &jobs));
    (ours, bare)
}

fn ours(place: &Place) -> (Ours, Vec<Job>) {
    let server = Server::start_in(TestApp::new());
    let client = server.as_(Who::Administrator);
    add(&client, &place.namespace);
    let tally = place.runtime.block_on(Tally::watch(place.kubectl.0.clone(), &place.namespace));
    let began = Instant::now();
    let run = start(&client, TASKS, None);
    let state = ended(&client, &run)["state"].clone();
    let run = began.elapsed().as_secs_f64();
    assert_eq!(state, "succeeded");
    let times = since(began, place.runtime.block_on(tally.times(TASKS)));
    let memory = most_memory(server.pid());
    let jobs: Api<Job> = Api::namespaced(place.kubectl.0.clone(), &place.namespace);
    let jobs = place.runtime.block_on(jobs.list(&ListParams::default())).unwrap();
    (Ours { times, run, memory }, jobs.items.into_iter().map(anew).collect())
}

/// A client that does nothing else.
async fn bare(place: &Place, jobs: &[Job]) -> Times {
    let tally = Tally::watch(place.kubectl.0.clone(), &place.namespace).await;
    let api: Api<Job> = Api::namespaced(place.kubectl.0.clone(), &place.namespace);
    let params = PostParams::default();
    let began = Instant::now();
    let made = futures::stream::iter(jobs).map(|job| api.create(&params, job)).buffer_unordered(AT_ONCE);
    made.map_ok(drop).try_collect::<()>().await.unwrap();
    since(began, tally.times(jobs.len()).await)
}

fn since(began: Instant, (made, done): (Instant, Instant)) -> Times {
    let seconds = |at: Instant| (at - began).as_secs_f64();
    Times { made: seconds(made), done: seconds(done) }
}

/// A Job as it can be made in another namespace: without what the API server chose.
fn anew(mut job: Job) -> Job {
    let meta = std::mem::take(&mut job.metadata);
    (job.metadata.name, job.metadata.labels, job.metadata.annotations) =
        (meta.name, meta.labels, meta.annotations);
    job.status = None;
    if let Some(spec) = &mut job.spec {
        spec.selector = None;
        if let Some(labels) = spec.template.metadata.as_mut().and_then(|meta| meta.labels.as_mut()) {
            labels.retain(|name, _| !name.contains("controller-uid") && !name.contains("job-name"));
        }
    }
    job
}

/// The peak of a process's memory, in MB.
fn most_memory(pid: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1024.0 / 1e6
}

/// Simulated nodes with room for all; they stay for the rounds that follow.
fn make_nodes(place: &Place) {
    let node = |index: usize| -> Value {
        let name = format!("bench-{index}");
        let has = json!({"cpu": "64", "memory": "256Gi", "pods": "250"});
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"type": "kwok", "kubernetes.io/hostname": name}},
            "status": {"allocatable": has, "capacity": has},
        })
    };
    let kubectl: &Kubectl = &place.kubectl;
    for node in (0..NODES).map(node) {
        place.runtime.block_on(kubectl.apply(&Object::of(node)));
    }
}
