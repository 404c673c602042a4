//! Thousands of one-pod tasks at once, compared with a bare client that creates the same pods as fast as the
//! API server accepts them: `make bench-cluster`.

#![allow(clippy::print_stdout, reason = "figures are what it is for")]

use std::fs;
use std::time::Instant;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::Pod;
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
/// Enough capacity for all pods at once.
const NODES: usize = 20;
/// Concurrent requests of the bare client.
const AT_ONCE: usize = 128;

/// Seconds from the start: until the last pod existed, and until the last one had succeeded.
struct Times {
    made: f64,
    done: f64,
}

/// The same until the server reported the run as succeeded, and its peak memory in MB.
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
    row("the last pod is made", "s", rounds.iter().map(|(ours, _)| ours.times.made), "");
    row("the last pod is made, bare client", "s", rounds.iter().map(|(_, bare)| bare.made), "");
    row("the last pod has succeeded", "s", rounds.iter().map(|(ours, _)| ours.times.done), "");
    row("the last pod has succeeded, bare client", "s", rounds.iter().map(|(_, bare)| bare.done), "");
    row("the run has succeeded", "s", rounds.iter().map(|(ours, _)| ours.run), "at most 30");
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
    let (ours, pods) = ours(&place);
    assert_eq!(pods.len(), TASKS);
    drop(place);
    let place = Place::new();
    let bare = place.runtime.block_on(bare(&place, &pods));
    (ours, bare)
}

fn ours(place: &Place) -> (Ours, Vec<Pod>) {
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
    let pods: Api<Pod> = Api::namespaced(place.kubectl.0.clone(), &place.namespace);
    let pods = place.runtime.block_on(pods.list(&ListParams::default())).unwrap();
    (Ours { times, run, memory }, pods.items.into_iter().map(fresh).collect())
}

/// Creates the pods with a client that does nothing else.
async fn bare(place: &Place, pods: &[Pod]) -> Times {
    let tally = Tally::watch(place.kubectl.0.clone(), &place.namespace).await;
    let api: Api<Pod> = Api::namespaced(place.kubectl.0.clone(), &place.namespace);
    let params = PostParams::default();
    let began = Instant::now();
    let made = futures::stream::iter(pods).map(|pod| api.create(&params, pod)).buffer_unordered(AT_ONCE);
    made.map_ok(drop).try_collect::<()>().await.unwrap();
    since(began, tally.times(pods.len()).await)
}

fn since(began: Instant, (made, done): (Instant, Instant)) -> Times {
    let seconds = |at: Instant| (at - began).as_secs_f64();
    Times { made: seconds(made), done: seconds(done) }
}

/// The pod for another namespace, without the fields that the API server and the scheduler set.
fn fresh(mut pod: Pod) -> Pod {
    let meta = std::mem::take(&mut pod.metadata);
    (pod.metadata.name, pod.metadata.labels, pod.metadata.annotations) =
        (meta.name, meta.labels, meta.annotations);
    pod.status = None;
    if let Some(spec) = &mut pod.spec {
        spec.node_name = None;
    }
    pod
}

/// The peak memory of a process, in MB.
fn most_memory(pid: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1024.0 / 1e6
}

/// Simulated nodes with capacity for all pods, kept for the following rounds.
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
