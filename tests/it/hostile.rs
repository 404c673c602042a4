//! A hostile editor in another project: attacks by `alice` on `bob` and on the server. Each attack is a line
//! with the attempt and what refused it. Takes 12 core-seconds.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

mod documents;
mod doors;
mod memory;
mod network;
pub mod programs;
mod provider;

use serde_json::{Value, json};

use crate::api::support::client::Client;
use crate::api::support::{Server, Who};
use crate::support::{TestApp, wait_for};

/// The attempt of one attack, and what refused it.
pub type Line = (String, Result<String, String>);

/// A server with the projects `alice` and `bob`, each with an editor of that name, and a secret of bob's.
pub struct Scene {
    pub server: Server,
    pub alice: Client,
    pub bob: Client,
}

impl Scene {
    /// Uses the caller's data folder.
    pub fn in_(mut app: TestApp) -> Self {
        // As in production.
        app.set("CUBELOOM_SANDBOX_TMP", "true");
        app.set("CUBELOOM_LOCAL_PIDS", "200");
        let server = Server::start_in(app);
        let ada = server.as_(Who::Administrator);
        let editor = |name: &str| {
            ada.post("/projects", &json!({"name": name})).expect(201);
            server.user(name, &[]);
            ada.put(&format!("/projects/{name}/members/{name}"), "*", &json!({"role": "editor"}));
            server.with_token(Some(server.token(name, &["--scope", "admin"])))
        };
        let (alice, bob) = (editor("alice"), editor("bob"));
        let secret = json!({"name": "key", "value": "the-secret-of-bob"});
        ada.post("/projects/bob/secrets", &secret).expect(201);
        Self { server, alice, bob }
    }
}

/// Starts a run of one task with a program and its arguments.
fn run(client: &Client, project: &str, program: &[&str], more: &Value) -> String {
    run_on(None, client, project, program, more)
}

/// Starts the same run on a cluster, if given.
pub fn run_on(
    cluster: Option<&str>,
    client: &Client,
    project: &str,
    program: &[&str],
    more: &Value,
) -> String {
    let mut task = json!({
        "name": "one",
        "template": "command",
        "resources": {"cpu": "500m", "memory": "256Mi"},
        "arguments": {"command": program},
    });
    task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut document =
        json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "attack", "tasks": [task]});
    if let Some(cluster) = cluster {
        document["cluster"] = cluster.into();
    }
    let body = json!({"document": document.to_string()});
    let started = client.post(&format!("/projects/{project}/runs"), &body).expect(201).json();
    started["run"]["id"].as_str().unwrap().to_owned()
}

/// Waits for a run to end. Returns its state.
pub fn ended(client: &Client, run: &str) -> String {
    let state = std::cell::RefCell::new(String::new());
    wait_for(&format!("run {run} to end"), || {
        let run = client.get(&format!("/runs/{run}")).expect(200).json();
        *state.borrow_mut() = run["state"].as_str().unwrap().to_owned();
        ["succeeded", "failed", "cancelled"].contains(&state.borrow().as_str())
    });
    state.into_inner()
}

/// The output of its worker.
pub fn log(client: &Client, run: &str) -> String {
    let log = client.get(&format!("/runs/{run}/logs/text?task=one")).expect(200).json();
    let chunks = log["chunks"].as_array().unwrap().iter();
    chunks.filter_map(|chunk| chunk["text"].as_str()).collect()
}

/// Prints each line. Fails if an attack was not refused, or if there are fewer than `at_least` lines.
pub fn judge(lines: &[Line], at_least: usize) {
    for (tried, by) in lines {
        match by {
            Ok(by) => eprintln!("refused: {tried}: by {by}"),
            Err(got) => eprintln!("NOT REFUSED: {tried}: {got}"),
        }
    }
    let broken: Vec<_> = lines.iter().filter(|(_, by)| by.is_err()).collect();
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(lines.len() >= at_least, "only {} attacks", lines.len());
}
