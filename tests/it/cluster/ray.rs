//! Jobs with a real Ray through KubeRay, which asks the Ray head how the job ended: success and failure.

use serde_json::{Value, json};

use super::product::{ended, with_cluster};
use super::simulated::frameworks::templates;
use crate::api::support::Client;
use crate::support::TestApp;

/// Ray tasks that print where they ran.
const PLACES: &str = "\
import time

import ray

ray.init()
place = ray.remote(num_cpus=1)(lambda: time.sleep(2) or ray.util.get_node_ip_address())
places = set(ray.get([place.remote() for _ in range(6)]))
";

/// Runs one Ray job. Returns its ended task.
fn task(client: &Client, then: &str) -> Value {
    let command = ["python3", "-c", &format!("{PLACES}{then}")];
    // Fits on the test node.
    let resources = json!({"head": {"cpu": "600m"}, "worker": {"cpu": "300m"}});
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "ray", "cluster": "node",
        "tasks": [{
            "name": "spread", "template": "ray",
            "arguments": {"workers": 2, "command": command}, "role_resources": resources,
        }],
    });
    let wanted = json!({"document": document.to_string()});
    let started = client.post("/projects/default/runs", &wanted).expect(201).json();
    let run = started["run"]["id"].as_str().unwrap();
    ended(client, run);
    client.get(&format!("/runs/{run}/tasks/spread")).expect(200).json()
}

#[ignore = "needs a cluster with a real node"]
#[test]
fn a_job_of_ray_ends_as_its_program_does() {
    let mut app = TestApp::new();
    let folder = app.data().join("templates-of-tests");
    templates(&folder);
    app.set("CUBELOOM_SERVER_TEMPLATES", folder.display().to_string());
    let (_server, admin, _mounted) = with_cluster(app);
    let well = task(&admin, "assert len(places) > 1, places");
    assert_eq!(well["state"], "succeeded", "{well:#}");
    let badly = task(&admin, "assert len(places) > 9, f'only {len(places)} places'");
    assert_eq!(badly["state"], "failed", "{badly:#}");
    let said = badly["failure"].to_string();
    assert!(said.contains("places"), "{badly:#}");
}
