//! The rules of elastic jobs, with torchrun: two projects train on a machine with capacity for three workers.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::ledger::with_variables;
use super::rig::{app, shipped};
use crate::api::support::{Client, Server, Who};
use crate::cluster::product::{ended, until, uploaded_to};

/// Starts the example in a project. Returns the run.
fn start(client: &Client, project: &str, elastic: &str, epochs: u32) -> String {
    let folder = shipped("examples/elastic");
    let document = fs::read_to_string(format!("{folder}/pipeline.yaml")).expect("the example");
    let (shipped, wanted) = ("elastic: {min: 2, max: 3}", format!("elastic: {elastic}"));
    assert!(document.contains(shipped), "{document}");
    let body = json!({
        "document": document.replace(shipped, &wanted),
        "code": uploaded_to(client, project, &folder),
        "parameters": {"epochs": epochs, "pause": 0.4},
    });
    let started = client.post(&format!("/projects/{project}/runs"), &body).expect(201).json();
    started["run"]["id"].as_str().expect("an id").to_owned()
}

/// The last attempt of the training, and the ranks of its workers.
fn training(client: &Client, run: &str) -> (Value, Vec<u64>) {
    let listed = client.get(&format!("/runs/{run}/attempts")).expect(200).json();
    let attempts = listed["items"].as_array().expect("attempts").iter();
    let last = attempts
        .filter(|attempt| attempt["task"] == "train")
        .max_by_key(|attempt| attempt["attempt"].as_u64());
    let Some(attempt) = last else { return (Value::Null, Vec::new()) };
    let workers = attempt["workers"].as_array().into_iter().flatten();
    let live = workers.filter(|worker| worker["given_back"] != true && attempt["state"] == "running");
    let ranks = live.map(|worker| worker["rank"].as_u64().expect("a rank")).collect();
    (attempt.clone(), ranks)
}

/// The epoch at which the second training attempt resumed, as reported by its program.
fn resumed(client: &Client, run: &str) -> f64 {
    let log = client.get(&format!("/runs/{run}/logs/text?task=train&attempt=2")).expect(200).json();
    let text: String =
        log["chunks"].as_array().into_iter().flatten().filter_map(|chunk| chunk["text"].as_str()).collect();
    let epoch = text.split_once(": epoch ").and_then(|(_, rest)| rest.split(',').next());
    epoch.and_then(|epoch| epoch.parse().ok()).unwrap_or_else(|| panic!("no epoch in {text}"))
}

/// Whether a task of a project has saved a checkpoint.
fn is_saved(workspace: &Path) -> bool {
    let mut folders = fs::read_dir(workspace.join("checkpoints")).into_iter().flatten().flatten();
    folders.any(|folder| folder.path().join("last.pt").exists())
}

#[test]
#[ignore = "needs python3-torch: make test-templates"]
fn torchrun_shows_the_rules_of_elastic_jobs() {
    let mut app = app();
    for (name, value) in [("LOCAL_CPU", "2"), ("LOCAL_MEMORY", "8Gi"), ("SHARING_COOL_DOWN", "2s")] {
        app.set(&format!("CUBELOOM_{name}"), value);
    }
    let data = app.data();
    let saved = |project: &str| is_saved(&data.join("workspace").join(project));
    let server = Server::start_in(app);
    let admin = server.as_(Who::Administrator);
    admin.post("/projects", &json!({"name": "lender"})).expect(201);
    let guarantee = json!({"quotas": {"local": {"guarantee": {"cpu": "1200m"}}}});
    admin.put("/projects/lender/quota", "*", &guarantee).expect(200);
    // Worker 0 starts first and stops last. Workers with the highest ranks start last and stop first.
    let of = |run: &str| {
        let ranks = training(&admin, run).1;
        assert_eq!(ranks, (0..ranks.len() as u64).collect::<Vec<_>>(), "{run}");
        ranks.len()
    };

    // All idle resources are lent.
    let borrower = start(&admin, "default", "{min: 1, max: 3}", 150);
    let points = |run: &str, name: &str| -> Vec<(f64, f64)> {
        let said = admin.get(&format!("/runs/{run}/metrics?task=train&name={name}")).expect(200).json();
        let points = said["series"][0]["points"].as_array().into_iter().flatten();
        let number = |value: &Value| value.as_f64().expect("a number");
        points.map(|point| (number(&point[0]), number(&point[1]))).collect()
    };
    let curve =
        |name: &str| -> Vec<f64> { points(&borrower, name).into_iter().map(|(_, value)| value).collect() };
    until("the borrower learns with all of it", || of(&borrower) == 3 && curve("processes").len() > 2);
    // Every job's minimum comes before elastic workers, and a guarantee before borrowing.
    let lender = start(&admin, "lender", "{min: 1, max: 2}", 40);
    until("both have what is theirs", || (of(&lender), of(&borrower)) == (2, 1));
    let (borrows, _) = training(&admin, &borrower);
    let gone =
        borrows["workers"].as_array().into_iter().flatten().filter(|worker| worker["given_back"] == true);
    let gone: Vec<&Value> = gone.map(|worker| &worker["name"]).collect();
    assert_eq!(gone, ["worker-1", "worker-2"], "{borrows}");
    // A job below its minimum fails. The next attempt resumes from the checkpoint.
    until("the lender has saved", || saved("lender"));
    let victims = with_variables(&data, &[format!("CUBELOOM_RUN={lender}"), "CUBELOOM_TASK=train".into()]);
    assert!(victims.len() >= 2, "{victims:?}");
    for pid in victims {
        // A child process may be gone with its parent.
        let _ = kill_process(Pid::from_raw(pid).expect("a pid"), Signal::KILL);
    }
    let learned = points(&lender, "loss");
    until("it is tried again", || training(&admin, &lender).0["attempt"] == 2);
    assert_eq!(ended(&admin, &lender)["state"], "succeeded");
    assert_eq!(training(&admin, &lender).0["attempt"], 2);
    let begun_at = resumed(&admin, &lender);
    assert!(begun_at > 0.0, "it began anew");
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let [before, after] =
        [learned, points(&lender, "loss").into_iter().filter(|(step, _)| *step > begun_at).collect()]
            .map(|points| points.into_iter().map(|(_, loss)| loss).collect::<Vec<f64>>());
    assert!(!before.is_empty() && mean(&after) < before[0], "{before:?} {after:?}");
    // The borrower, which has trained all the time, gets the lent resources back.
    until("the borrower has all of it again", || of(&borrower) == 3);
    assert_eq!(ended(&admin, &borrower)["state"], "succeeded");
    let (attempt, _) = training(&admin, &borrower);
    assert_eq!(attempt["attempt"], 1, "{attempt}");
    let mut sizes = curve("processes");
    sizes.dedup();
    assert!(sizes.contains(&1.0) && sizes.first() == Some(&3.0) && sizes.last() == Some(&3.0), "{sizes:?}");
    let losses = curve("loss");
    assert!(mean(&losses[losses.len() - 20..]) < 0.3 * mean(&losses[..20]), "{losses:?}");
}
