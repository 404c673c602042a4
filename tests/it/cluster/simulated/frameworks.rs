//! One pipeline with every framework, on simulated nodes: each job runs to its end through its own operator,
//! with success and with failure. Ray jobs are the exception: their operator asks the Ray head how the job
//! ended, and a simulated head does not answer. `cluster::ray` runs those with a real Ray.

use std::fs;
use std::path::Path;

use kube::api::ListParams;
use serde_json::{Value, json};

use super::{Place, add};
use crate::api::support::{Client, Server, Who};
use crate::cluster::kubectl::Object;
use crate::cluster::product::{ended, until, uploaded};
use crate::support::TestApp;

const TASKS: [(&str, &str); 17] = [
    ("command", r#"{"command": ["true"]}"#),
    ("indexed", r#"{"command": ["true"], "workers": 3}"#),
    ("pytorch", r#"{"script": "/opt/train.py", "workers": 3}"#),
    ("pytorch", r#"{"script": "/opt/train.py", "elastic": {"min": 2, "max": 4}}"#),
    ("mpi", r#"{"command": ["true"], "workers": 2}"#),
    ("xgboost", r#"{"data": "train.csv", "model": "model.json", "workers": 2}"#),
    ("tensorflow-crew", r#"{"workers": 2, "ps": 2, "evaluator": 1}"#),
    (
        "tensorflow",
        r#"{"script": "/opt/train.py", "strategy": "parameter_server", "evaluator": "/opt/train.py"}"#,
    ),
    ("tensorflow-crew", r#"{"chief": 0, "workers": 2, "ps": 1}"#),
    ("horovod", r#"{"workers": 2}"#),
    ("jax", r#"{"workers": 2}"#),
    ("paddle", r#"{"masters": 2, "workers": 2}"#),
    ("mxnet", r#"{"servers": 2, "workers": 2}"#),
    ("kaldi", r#"{"workers": 2}"#),
    ("nni", r#"{"workers": 2}"#),
    ("spark-crew", r#"{"executors": 2}"#),
    ("spark", r#"{"program": "/opt/train.py"}"#),
];

/// Copies the shipped templates and the test-only ones.
pub fn templates(to: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for from in ["task-templates", "tests/cluster/templates"] {
        copy(&root.join(from), to);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => _ = fs::copy(entry.path(), to.join(entry.file_name())).unwrap(),
        }
    }
}

/// Runs a task of each framework, named so that its pods end as `word` says. Returns how each ended.
fn run(client: &Client, code: &str, word: &str) -> Vec<(String, Value)> {
    let task = |(at, (template, arguments)): (usize, &(&str, &str))| {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        json!({"name": format!("{word}-{template}-{at}"), "template": template, "arguments": arguments})
    };
    let tasks: Vec<Value> = TASKS.iter().enumerate().map(task).collect();
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": word, "cluster": "simulated", "tasks": tasks,
    });
    let wanted = json!({"document": document.to_string(), "code": code});
    let started = client.post("/projects/default/runs", &wanted).expect(201).json();
    let run = started["run"]["id"].as_str().unwrap().to_owned();
    ended(client, &run);
    let tasks = client.get(&format!("/runs/{run}/tasks")).expect(200).json();
    let tasks = tasks["items"].as_array().unwrap().iter();
    tasks.map(|task| (task["name"].as_str().unwrap().to_owned(), task.clone())).collect()
}

#[ignore = "needs a cluster"]
#[test]
fn a_pipeline_of_every_framework_ends_well_and_badly() {
    let place = Place::new();
    let mut app = TestApp::new();
    let folder = app.data().join("templates-of-tests");
    templates(&folder);
    app.set("CUBELOOM_SERVER_TEMPLATES", folder.display().to_string());
    let server = Server::start_in(app);
    let admin = server.as_(Who::Administrator);
    add(&admin, &place.namespace);
    let code = uploaded(&admin);
    // Their objects are removed by the next cleanup, long before the cluster's own retention.
    admin.patch("/projects/default", "*", &json!({"keeping": {"objects": 0}})).expect(200);
    for (name, task) in run(&admin, &code, "simulated") {
        assert_eq!(task["state"], "succeeded", "{name}: {task:#}");
    }
    for (name, task) in run(&admin, &code, "failing") {
        assert_eq!(task["state"], "failed", "{name}: {task:#}");
        assert_eq!(task["failure"]["exit_code"], 3, "{name}: {task:#}");
    }
    until("their objects are gone", || KINDS.iter().all(|(version, kind)| count(&place, version, kind) == 0));
}

/// Some of the kinds that jobs become, and all pods.
const KINDS: [(&str, &str); 4] = [
    ("v1", "Pod"),
    ("batch.volcano.sh/v1alpha1", "Job"),
    ("kubeflow.org/v1", "PyTorchJob"),
    ("kubeflow.org/v2beta1", "MPIJob"),
];

/// The number of objects of a kind.
fn count(place: &Place, version: &str, kind: &str) -> usize {
    let named = json!({"name": "any", "namespace": place.namespace});
    let api = place.kubectl.api(&Object::of(json!({"apiVersion": version, "kind": kind, "metadata": named})));
    place.runtime.block_on(api.list(&ListParams::default())).unwrap().items.len()
}
