//! The whole product on a real cluster: a cluster is added through the API, checked, and runs the same as
//! this machine.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::Method;
use serde_json::{Value, json};

use super::harness::told;
use crate::api::support::client::send;
use crate::api::support::{Client, Server, Who};
use crate::support::TestApp;
use crate::templates::rig;

pub const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits");

/// How long the example may take in pods on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// The claim's folder, mounted as the server's workspaces.
pub struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// A server that mounts the claim, with the cluster added.
pub fn with_cluster(app: TestApp) -> (Server, Client, Mounted) {
    let mounted = mount(&app);
    let server = Server::start_in(app);
    let admin = add(&server);
    (server, admin, mounted)
}

/// Mounts the claim for a server that has not started yet.
pub fn mount(app: &TestApp) -> Mounted {
    let workspace = app.data().join("workspace");
    fs::create_dir_all(&workspace).unwrap();
    fs::set_permissions(app.data(), Permissions::from_mode(0o755)).unwrap();
    let claim = told("CUBELOOM_TEST_WORKSPACE");
    let mounted = Command::new("mount").args(["--bind", &claim]).arg(&workspace).status().unwrap();
    assert!(mounted.success(), "the claim's folder cannot be mounted");
    Mounted(workspace)
}

/// Adds the cluster to a server, and waits until its nodes are known.
pub fn add(server: &Server) -> Client {
    let admin = server.as_(Who::Administrator);
    let cluster = json!({
        "name": "node",
        "access": "kubeconfig",
        "kubeconfig": fs::read_to_string(told("KUBECONFIG")).unwrap(),
        "namespace": told("CUBELOOM_TEST_NAMESPACE"),
        "workspace_claim": "workspace",
        "operators_gang": true,
    });
    admin.post("/clusters", &cluster).expect(201);
    until("the cluster's nodes are known", || {
        let seen = admin.get("/clusters/node").expect(200).json();
        seen["standing"]["state"] == "connected" && !seen["nodes"].as_array().unwrap().is_empty()
    });
    admin
}

pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "not in time: {what}");
        sleep(Duration::from_millis(250));
    }
}

/// Uploads the example's programs. Returns their digest.
pub fn uploaded(client: &Client) -> String {
    uploaded_to(client, "default", DIGITS)
}

/// Uploads a folder's programs to a project. Returns their digest.
pub fn uploaded_to(client: &Client, project: &str, folder: &str) -> String {
    let mut packed = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    packed.append_dir_all(".", folder).unwrap();
    let packed = packed.into_inner().unwrap().finish().unwrap();
    let request = client.request(Method::PUT, &format!("/projects/{project}/code"));
    let answer = send(request.header("Content-Type", "application/gzip").body(packed)).expect(200).json();
    answer["digest"].as_str().unwrap().to_owned()
}

/// Waits for a run to end. Returns the run.
pub fn ended(client: &Client, run: &str) -> Value {
    let mut seen = Value::Null;
    until("the run ends", || {
        seen = client.get(&format!("/runs/{run}")).expect(200).json();
        !matches!(seen["state"].as_str(), Some("queued" | "running" | "cancelling"))
    });
    seen
}

/// Runs a document, which must succeed. Returns the run.
pub fn succeeded(client: &Client, document: &str, code: &str) -> String {
    let wanted = json!({"document": document, "code": code});
    let started = client.post("/projects/default/runs", &wanted).expect(201).json();
    let run = started["run"]["id"].as_str().unwrap().to_owned();
    let seen = ended(client, &run);
    let tasks = client.get(&format!("/runs/{run}/tasks")).expect(200).json();
    let failures: Vec<&Value> =
        tasks["items"].as_array().unwrap().iter().map(|task| &task["failure"]).collect();
    assert_eq!(seen["state"], "succeeded", "{failures:#?}");
    run
}

/// Runs the example. Returns the outputs of its tasks.
pub fn outputs(client: &Client, document: &str, code: &str) -> Value {
    let run = succeeded(client, document, code);
    client.get(&format!("/runs/{run}/outputs")).expect(200).json()
}

/// The models' scores, by task.
pub fn reached(outputs: &Value) -> Vec<(String, Value)> {
    let items = outputs["items"].as_array().unwrap().iter();
    let numbers = |one: &Value| {
        let all = one["outputs"].as_object().cloned().unwrap_or_default();
        let numbers = all.into_iter().filter(|(_, value)| value.is_number());
        (one["task"].as_str().unwrap().to_owned(), Value::Object(numbers.collect()))
    };
    items.map(numbers).collect()
}

#[ignore = "needs a cluster with a real node"]
#[test]
fn the_example_runs_in_pods_with_the_same_outputs_as_on_this_machine() {
    let (_server, admin, _mounted) = with_cluster(rig::app());
    let check = admin.get("/clusters/node/check").expect(200).json();
    assert!(check["version"].is_string(), "{check:#}");
    let volcano = check["parts"].as_array().unwrap().iter().find(|part| part["name"] == "Volcano").unwrap();
    assert_eq!(volcano["found"], true);
    let document = fs::read_to_string(format!("{DIGITS}/pipeline.yaml")).unwrap();
    let code = uploaded(&admin);
    let here = outputs(&admin, &document, &code);
    let there = outputs(&admin, &format!("{document}\ncluster: node\n"), &code);
    let (here, there) = (reached(&here), reached(&there));
    assert!(
        here.iter().any(|(_, numbers)| numbers.as_object().is_some_and(|all| !all.is_empty())),
        "{here:?}"
    );
    assert_eq!(here, there);
}

#[ignore = "needs a cluster with a real node"]
#[test]
fn a_task_runs_a_program_of_the_image_that_it_names() {
    let (server, admin, _mounted) = with_cluster(rig::app());
    let report = r#"printf '{"output": {"version": "%s"}}\n' "$(cat /etc/debian_version)" >> "$CUBELOOM_OUTPUTS"; echo said"#;
    let document = |image: &str, cluster: Option<&str>| {
        let arguments = json!({"image": image, "command": ["sh", "-c", report]});
        let task = json!({"name": "own", "template": "container", "arguments": arguments,
            "resources": {"cpu": "20m", "memory": "64Mi"}});
        let mut document =
            json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "own", "tasks": [task]});
        if let Some(cluster) = cluster {
            document["cluster"] = cluster.into();
        }
        json!({"document": document.to_string()})
    };
    let started = |image: &str| {
        let run = admin.post("/projects/default/runs", &document(image, Some("node"))).expect(201).json();
        run["run"]["id"].as_str().unwrap().to_owned()
    };
    let run = started("ghcr.io/cubeloom/command:1.0.0");
    let seen = ended(&admin, &run);
    let tasks = admin.get(&format!("/runs/{run}/tasks")).expect(200).json();
    assert_eq!(seen["state"], "succeeded", "{tasks}");
    let outputs = admin.get(&format!("/runs/{run}/outputs")).expect(200).json();
    assert!(outputs["items"][0]["outputs"]["version"].is_string(), "{outputs}");
    assert_eq!(server.expect(0, &["logs", &run, "own", "--worker", "worker-0"]).out, "said\n");

    // The template's example; the node has only these images.
    let example = fs::read_to_string(rig::shipped("task-templates/container/example.yaml")).unwrap();
    let image = "ghcr.io/cubeloom/command:1.0.0";
    let wanted = json!({
        "document": format!("{example}\ncluster: node\n"), "parameters": {"busybox": image, "debian": image},
    });
    let run = admin.post("/projects/default/runs", &wanted).expect(201).json()["run"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(ended(&admin, &run)["state"], "succeeded");
    let outputs = admin.get(&format!("/runs/{run}/outputs")).expect(200).json();
    assert!(
        outputs["items"].as_array().unwrap().iter().any(|one| one["outputs"]["bytes"] == 1000),
        "{outputs}"
    );

    // A registry may be down for a while: the task stays pending with that reason.
    let run = started("127.0.0.1:1/none:1");
    until("what the node says of the image", || {
        let waiting = admin.get(&format!("/runs/{run}/tasks/own")).expect(200).json();
        let told = waiting["preparing"].as_str().unwrap_or_default().to_owned();
        told.contains("127.0.0.1:1/none:1 cannot be pulled")
    });
    admin.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    assert_eq!(ended(&admin, &run)["state"], "cancelled");

    let here = admin.post("/projects/default/runs", &document("debian:12", None)).expect(422).json();
    assert_eq!(here["problems"][0]["path"], "/tasks/0/template", "{here}");
}
