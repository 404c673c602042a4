//! In-place memory growth of running pods: the API server accepts it, and nothing else of the pod changes.
//! The metrics API and the kubelets are mocked.

use std::sync::Arc;

use cubeloom_compiler::lower::lower;
use cubeloom_domain::executor::Submission;
use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::{AttemptKey, Bytes, Clock, RunId};
use cubeloom_executor_kubernetes::KubernetesConfig;
use cubeloom_testkit::clock::SystemClock;
use cubeloom_testkit::conformance::{Program, random};
use kube::ResourceExt;
use kube::api::{DynamicObject, ListParams, Patch, PatchParams};
use serde_json::{Value, json};

use super::{Place, add};
use crate::api::support::{Client, Server, Who};
use crate::cluster::harness::{config, small, start};
use crate::cluster::metrics::{self, Metrics};
use crate::cluster::product::{ended, until};
use crate::support::TestApp;

const MIB: u64 = 1 << 20;
const PIPELINES: &str = "/projects/default/pipelines";

/// A template without right-sizing.
const UNCHECKED: &str = r#"{apiVersion: cubeloom/v1, kind: TaskTemplate, name: unchecked, version: 1.0.0, group: basics,
label: {en: Unchecked, zh: 不检}, help: {en: Is not sized., zh: 不检。}, framework: single,
image: 'ghcr.io/cubeloom/command:1.0.0',
parameters: {type: object, additionalProperties: false, required: [program],
  properties: {program: {type: string, title: Program}}},
roles: [{name: worker, replicas: 1, resources: {cpu: 100m, memory: 64Mi}}], env: {NO_RESOURCE_CHECK: 'true'},
command: ["{{ args.program }}"]}"#;

/// The memory request and limit of a pod's program.
fn memory(pod: &DynamicObject) -> Value {
    let resources = &pod.data["spec"]["containers"][0]["resources"];
    json!([resources["requests"]["memory"], resources["limits"]["memory"]])
}

/// A kubelet with in-place resize reports the allocated resources; simulated kubelets do not.
fn tell_what_it_has(place: &Place, pod: &DynamicObject) {
    let mut statuses = pod.data["status"]["containerStatuses"].clone();
    statuses[0]["resources"] = pod.data["spec"]["containers"][0]["resources"].clone();
    let status = Patch::Merge(json!({"status": {"containerStatuses": statuses}}));
    let (api, params) = (metrics::pods(&place.kubectl, &place.namespace), PatchParams::default());
    place.runtime.block_on(api.patch_status(&pod.name_any(), &params, &status)).unwrap();
}

/// Reports as a kubelet that the node can never allocate the new size.
fn refuse(place: &Place, pod: &DynamicObject, why: &str) {
    let mut conditions = pod.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.push(json!({
        "type": "PodResizePending", "status": "True", "reason": "Infeasible", "message": why,
    }));
    let status = Patch::Merge(json!({"status": {"conditions": conditions}}));
    let (api, params) = (metrics::pods(&place.kubectl, &place.namespace), PatchParams::default());
    place.runtime.block_on(api.patch_status(&pod.name_any(), &params, &status)).unwrap();
}

#[ignore = "needs a cluster"]
#[test]
fn pods_that_run_get_more_memory_and_stay_what_they_are() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let facts = KubernetesFacts { namespace: place.namespace.clone(), ..KubernetesFacts::default() };
    let own = config(folder.path());
    std::fs::create_dir_all(own.workspace.join("conformance")).unwrap();
    let server = start(&KubernetesConfig { facts, ..own });
    let executor = server.executor();
    until("the cluster knows how", || executor.growth().is_some());

    let run = RunId::new(SystemClock.now(), random().into());
    let key = AttemptKey { run, task: "grows".into(), instance: 0, n: 1 };
    let submission = |memory: u64| {
        let mut job = Program { roles: vec![("worker", 2)], ..Program::words(&["true"]) }.job(key.clone());
        small(&mut job);
        job.roles[0].resources.memory = Bytes(memory << 20);
        let bindings = executor.bind(&job).unwrap();
        let lowered = lower(&job, &bindings).unwrap();
        Submission { job: Arc::new(job), lowered: Arc::new(lowered) }
    };
    // For each pod: its identity, its class and its memory.
    let api = metrics::pods(&place.kubectl, &place.namespace);
    let list = || place.runtime.block_on(api.list(&Default::default())).unwrap();
    let pods = || {
        let all = list();
        let mut pods: Vec<(String, Value, Value)> = all
            .iter()
            .map(|pod| (pod.uid().unwrap(), pod.data["status"]["qosClass"].clone(), memory(pod)))
            .collect();
        pods.sort_by(|one, other| one.0.cmp(&other.0));
        pods
    };
    place.runtime.block_on(executor.submit(submission(64)));
    place.runtime.block_on(server.recorder().started(&key));
    list().iter().for_each(|pod| tell_what_it_has(&place, pod));
    let before = pods();
    assert_eq!(before.len(), 2);
    place.runtime.block_on(executor.growth().unwrap().grow(submission(96)));
    let have_more = |all: &[(String, Value, Value)]| {
        all.len() == 2 && all.iter().all(|(.., memory)| *memory == json!(["100663296", "100663296"]))
    };
    until("both have 96 MiB", || have_more(&pods()));
    // Memory does not shrink, and an unchanged size causes no request.
    place.runtime.block_on(executor.growth().unwrap().grow(submission(32)));
    let same = |all: &[(String, Value, Value)]| -> Vec<(String, Value)> {
        all.iter().map(|(uid, class, _)| (uid.clone(), class.clone())).collect()
    };
    let after = pods();
    assert_eq!(same(&after), same(&before), "they are the same pods, of the same class");
    assert!(have_more(&after), "{after:?}");
}

/// Starts a run of two endless tasks, `grows` and `stays`; the second's template disables right-sizing.
/// Returns its id.
fn begin(client: &Client) -> String {
    client.post("/templates", &json!({"document": UNCHECKED})).expect(201);
    let task = |name: &str, template: &str, arguments: Value| {
        json!({
            "name": name, "template": template, "arguments": arguments,
            "resources": {"cpu": "100m", "memory": "128Mi"},
        })
    };
    let tasks = [
        task("grows", "command", json!({"command": ["true"]})),
        task("stays", "unchecked", json!({"program": "true"})),
    ];
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "growing", "cluster": "simulated",
        "sizing": "auto", "tasks": tasks,
    });
    client.post(PIPELINES, &json!({"document": document.to_string()})).expect(201);
    let started = client.post("/projects/default/runs", &json!({"pipeline": "growing"})).expect(201).json();
    started["run"]["id"].as_str().unwrap().to_owned()
}

fn pod_of(place: &Place, run: &str, task: &str) -> DynamicObject {
    let its = ListParams::default().labels(&format!("cubeloom/run={run},cubeloom/task={task}"));
    let found = place.runtime.block_on(metrics::pods(&place.kubectl, &place.namespace).list(&its)).unwrap();
    assert_eq!(found.items.len(), 1, "{task}");
    found.items.into_iter().next().unwrap()
}

/// The memory of a task's only attempt, and its message.
fn attempt(client: &Client, run: &str, task: &str) -> (Value, Value) {
    let path = format!("/runs/{run}/tasks/{task}/instances/0/attempts");
    let found = client.get(&path).expect(200).json();
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found:#}");
    (found["items"][0]["memory"].clone(), found["items"][0]["sizing"].clone())
}

/// The changes of a task's resources: before, after and reason.
fn changes(client: &Client, task: &str) -> Vec<(Value, Value, Value)> {
    let known = client.get(&format!("{PIPELINES}/growing/tasks/{task}/sizing")).expect(200).json();
    let change = |one: &Value| {
        (one["before"]["memory"].clone(), one["after"]["memory"].clone(), one["reason"].clone())
    };
    known["changes"].as_array().unwrap().iter().map(change).collect()
}

#[ignore = "needs a cluster"]
#[test]
fn what_nears_its_memory_limit_by_the_metrics_api_gets_more_in_place() {
    let place = Place::new();
    let metrics = Metrics::new();
    let server = Server::start_in(TestApp::new());
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    let run = begin(&admin);
    let tasks = ["grows", "stays"];
    let pod = |task: &str| pod_of(&place, &run, task);
    for task in tasks {
        until("it runs", || {
            admin.get(&format!("/runs/{run}/tasks/{task}")).expect(200).json()["state"] == "running"
        });
        until("its container is told of", || pod(task).data["status"]["containerStatuses"].is_array());
        tell_what_it_has(&place, &pod(task));
    }
    let uids = || tasks.map(|task| pod(task).uid());
    let (before, stays) = (uids(), memory(&pod("stays")));
    // The second growth of one task proves that both were checked in between.
    for (has, gets) in [(128, 192), (192, 288)] {
        metrics.tell(&pod("grows"), Bytes(has * MIB / 100 * 96));
        metrics.tell(&pod("stays"), Bytes(128 * MIB / 100 * 96));
        let more = (gets * MIB).to_string();
        until("its pod has more", || memory(&pod("grows")) == json!([more, more]));
        tell_what_it_has(&place, &pod("grows"));
    }
    assert_eq!(uids(), before, "they are the same pods");
    assert_eq!(memory(&pod("stays")), stays);

    let [small, middle, large] = [128, 192, 288].map(|mib| json!(mib * MIB));
    let (has, said) = attempt(&admin, &run, "grows");
    assert_eq!(has, large);
    assert_eq!(said, "memory 288Mi instead of 128Mi: 192Mi was nearly used up while it ran");
    assert_eq!(attempt(&admin, &run, "stays").0, small);
    let why = |text: &str| json!(format!("{text} was nearly used up while it ran"));
    let grown = [
        (middle.clone(), large, why("memory 288Mi instead of 192Mi: 192Mi")),
        (small, middle, why("memory 192Mi instead of 128Mi: 128Mi")),
    ];
    assert_eq!(changes(&admin, "grows"), grown);
    assert!(changes(&admin, "stays").is_empty());

    // The message has the node's reason, and the pod keeps its memory.
    let why = "Node didn't have enough capacity: memory";
    metrics.tell(&pod("grows"), Bytes(288 * MIB / 100 * 96));
    until("its pod is to have more", || memory(&pod("grows"))[1] == json!((432 * MIB).to_string()));
    refuse(&place, &pod("grows"), why);
    until("it has what it had", || attempt(&admin, &run, "grows").0 == json!(288 * MIB));
    let attempts = admin.get(&format!("/runs/{run}/tasks/grows/instances/0/attempts")).expect(200).json();
    let said = attempts["items"][0]["not_grown"].to_string();
    assert!(
        said.contains("the cluster did not provide more memory while it ran") && said.contains(why),
        "{said}"
    );
    let known = admin.get(&format!("{PIPELINES}/growing/tasks/grows/sizing")).expect(200).json();
    let not = &known["changes"][0];
    assert!(not["not_grown"].as_str().is_some_and(|said| said.contains(why)), "{not}");
    assert!(
        not["reason"].as_str().unwrap().ends_with("the cluster did not provide 432Mi while it ran"),
        "{not}"
    );
    admin.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    assert_eq!(ended(&admin, &run)["state"], "cancelled");
}
