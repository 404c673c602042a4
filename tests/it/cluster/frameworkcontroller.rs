//! Real NNI experiments through the real frameworkcontroller, on a real node: `make
//! test-frameworkcontroller`, if its binary is installed.

use kube::api::ListParams;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::harness::told;
use super::kubectl::{Kubectl, Object};
use super::product::{Mounted, ended, until, with_cluster};
use crate::api::support::{Client, Server};
use crate::support::TestApp;

/// The trial: 4 fails, 7 hangs.
const TRIAL: &str = "\
import time

import nni

x = nni.get_next_parameter()['x']
assert x != 4, 'four is a mistake'
while x == 7:
    time.sleep(1)
nni.report_final_result(10 * x)
";

/// A cluster with only Kubernetes and frameworkcontroller.
struct Site {
    admin: Client,
    kubectl: Kubectl,
    runtime: Runtime,
    _server: Server,
    _mounted: Mounted,
}

impl Site {
    fn new() -> Self {
        let (_server, admin, _mounted) = with_cluster(TestApp::new());
        let runtime = Runtime::new().unwrap();
        let kubectl = runtime.block_on(Kubectl::new());
        Self { admin, kubectl, runtime, _server, _mounted }
    }

    /// Starts a search over these values with two workers.
    fn start(&self, values: &[u32], max_failures: u32) -> String {
        let document = json!({
            "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "search", "cluster": "node",
            "tasks": [{
                "name": "search", "template": "nni", "env": {"PYTHONPATH": "/opt/nni"},
                "arguments": {
                    "command": ["python3", "-c", TRIAL], "workers": 2, "tuner": "GridSearch",
                    "search_space": {"x": {"_type": "choice", "_value": values}},
                    "max_trial_number": values.len(), "max_failures": max_failures,
                },
                "role_resources": {"manager": {"cpu": "500m", "memory": "1Gi"}, "trial": {"cpu": "200m", "memory": "512Mi"}},
            }],
        });
        let wanted = json!({"document": document.to_string()});
        let started = self.admin.post("/projects/default/runs", &wanted).expect(201).json();
        started["run"]["id"].as_str().unwrap().to_owned()
    }

    fn task(&self, run: &str) -> Value {
        self.admin.get(&format!("/runs/{run}/tasks/search")).expect(200).json()
    }

    /// A run's objects of one kind.
    fn listed(&self, run: &str, version: &str, kind: &str) -> Vec<Value> {
        let named = json!({"name": "any", "namespace": told("CUBELOOM_TEST_NAMESPACE")});
        let api =
            self.kubectl.api(&Object::of(json!({"apiVersion": version, "kind": kind, "metadata": named})));
        let chosen = ListParams::default().labels(&format!("cubeloom/run={run}"));
        let found = self.runtime.block_on(api.list(&chosen)).unwrap();
        found.items.into_iter().map(|object| serde_json::to_value(object).unwrap()).collect()
    }

    fn frameworks(&self, run: &str) -> Vec<Value> {
        self.listed(run, "frameworkcontroller.microsoft.com/v1", "Framework")
    }

    /// The names of its running pods, by role and number.
    fn running(&self, run: &str) -> Vec<(String, String)> {
        let runs = |pod: &&Value| {
            pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null()
        };
        let name = |pod: &Value| {
            let of = &pod["metadata"];
            let role = of["labels"]["cubeloom/role"].as_str().unwrap();
            let index = of["annotations"]["FC_TASK_INDEX"].as_str().unwrap();
            (format!("{role}-{index}"), of["name"].as_str().unwrap().to_owned())
        };
        let mut found: Vec<_> = self.listed(run, "v1", "Pod").iter().filter(runs).map(name).collect();
        found.sort();
        found
    }

    fn until_all_run(&self, run: &str) {
        let names = || self.running(run).into_iter().map(|(worker, _)| worker).collect::<Vec<_>>();
        until("all of it runs", || names() == ["manager-0", "trial-0", "trial-1"]);
    }

    /// The run's objects are kept for the cluster's retention time, for inspection.
    fn nothing_runs(&self, run: &str) {
        until("none of its pods is left, nor what they know each other by", || {
            ["Pod", "Secret"].iter().all(|kind| self.listed(run, "v1", kind).is_empty())
        });
    }

    fn log(&self, run: &str, worker: &str) -> String {
        let path = format!("/runs/{run}/logs/text?task=search&worker={worker}");
        self.admin.get(&path).expect(200).text()
    }
}

#[ignore = "needs frameworkcontroller"]
#[test]
fn an_experiment_runs_as_a_framework_and_its_trials_on_workers() {
    let site = Site::new();
    let run = site.start(&[1, 2, 3, 4], 1);
    until("it is there", || site.frameworks(&run).len() == 1);
    let seen = ended(&site.admin, &run);
    let task = site.task(&run);
    assert_eq!(seen["state"], "succeeded", "{task:#}");
    let outputs = site.admin.get(&format!("/runs/{run}/outputs")).expect(200).json();
    let found = &outputs["items"][0]["outputs"];
    assert_eq!((&found["trials"], &found["failed"]), (&4.into(), &1.into()), "{found}");
    assert_eq!(
        (&found["best_value"], &found["best_parameters"]),
        (&30.0.into(), &json!({"x": 3})),
        "{found}"
    );
    let trials = site.log(&run, "trial-0") + &site.log(&run, "trial-1");
    assert!(trials.contains("four is a mistake"), "{trials}");
    site.nothing_runs(&run);
}

#[ignore = "needs frameworkcontroller"]
#[test]
fn a_manager_that_fails_fails_the_task_with_what_it_said() {
    let site = Site::new();
    let run = site.start(&[4, 1, 2], 0);
    assert_eq!(ended(&site.admin, &run)["state"], "failed");
    let task = site.task(&run);
    let said = task["failure"].to_string() + &site.log(&run, "manager-0");
    assert!(said.contains("1 trials failed, and `max_failures` is 0"), "{said}\n{task:#}");
    site.nothing_runs(&run);
}

#[ignore = "needs frameworkcontroller"]
#[test]
fn a_worker_that_is_lost_fails_the_task() {
    let site = Site::new();
    let run = site.start(&[7, 7], 1);
    site.until_all_run(&run);
    let (_, pod) = site.running(&run).pop().unwrap();
    let metadata = json!({"name": pod, "namespace": told("CUBELOOM_TEST_NAMESPACE")});
    let pod = Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}));
    site.runtime.block_on(site.kubectl.delete(&pod));
    assert_eq!(ended(&site.admin, &run)["state"], "failed");
    let task = site.task(&run);
    assert_eq!(task["failure"]["worker"], "trial-1", "{task:#}");
    site.nothing_runs(&run);
}

#[ignore = "needs frameworkcontroller"]
#[test]
fn a_cancelled_experiment_leaves_nothing() {
    let site = Site::new();
    let run = site.start(&[7, 7], 1);
    site.until_all_run(&run);
    site.admin.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    assert_eq!(ended(&site.admin, &run)["state"], "cancelled");
    site.nothing_runs(&run);
    until("its objects are gone", || {
        site.frameworks(&run).is_empty() && site.listed(&run, "v1", "Service").is_empty()
    });
}
