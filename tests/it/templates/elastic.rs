//! The rules of elastic jobs, with torchrun: two projects train on a machine that has room for three workers.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::ledger::with_variables;
use super::rig::{app, shipped};
use crate::api::support::{Client, Server, Who};
use crate::cluster::product::{ended, until, uploaded_to};

/// Starts the example in a project; its run.
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

/// The last attempt at the training, and how many workers it has.
fn training(client: &Client, run: &str) -> (Value, usize) {
    let listed = client.get(&format!("/runs/{run}/attempts")).expect(200).json();
    let attempts = listed["items"].as_array().expect("attempts").iter();
    let last = attempts
        .filter(|attempt| attempt["task"] == "train")
        .max_by_key(|attempt| attempt["attempt"].as_u64());
    let Some(attempt) = last else { return (Value::Null, 0) };
    let workers = attempt["workers"].as_array().into_iter().flatten();
    let live = workers.filter(|worker| worker["given_back"] != true && attempt["state"] == "running").count();
    (attempt.clone(), live)
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
    let of = |run: &str| training(&admin, run).1;

    // Whatever is idle is lent.
    let borrower = start(&admin, "default", "{min: 1, max: 3}", 150);
    let curve = |name: &str| -> Vec<f64> {
        let said = admin.get(&format!("/runs/{borrower}/metrics?task=train&name={name}")).expect(200).json();
        let points = said["series"][0]["points"].as_array().into_iter().flatten();
        points.map(|point| point[1].as_f64().expect("a number")).collect()
    };
    until("the borrower learns with all of it", || of(&borrower) == 3 && curve("processes").len() > 2);
    // The least of every job comes before anybody's elastic workers, and a guarantee before what is borrowed.
    let lender = start(&admin, "lender", "{min: 1, max: 2}", 40);
    until("both have what is theirs", || (of(&lender), of(&borrower)) == (2, 1));
    // A job that cannot keep its least fails; the next attempt goes on from the checkpoint.
    until("the lender has saved", || saved("lender"));
    let victims = with_variables(&data, &[format!("CUBELOOM_RUN={lender}"), "CUBELOOM_TASK=train".into()]);
    assert!(victims.len() >= 2, "{victims:?}");
    for pid in victims {
        // One that was started by another one may be gone with it.
        let _ = kill_process(Pid::from_raw(pid).expect("a pid"), Signal::KILL);
    }
    until("it is tried again", || training(&admin, &lender).0["attempt"] == 2);
    assert_eq!(ended(&admin, &lender)["state"], "succeeded");
    assert_eq!(training(&admin, &lender).0["attempt"], 2);
    // What was lent comes back to the borrower, which has gone on all the time, and learned.
    until("the borrower has all of it again", || of(&borrower) == 3);
    assert_eq!(ended(&admin, &borrower)["state"], "succeeded");
    let (attempt, _) = training(&admin, &borrower);
    assert_eq!(attempt["attempt"], 1, "{attempt}");
    let mut sizes = curve("processes");
    sizes.dedup();
    assert!(sizes.contains(&1.0) && sizes.first() == Some(&3.0) && sizes.last() == Some(&3.0), "{sizes:?}");
    let losses = curve("loss");
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    assert!(mean(&losses[losses.len() - 20..]) < 0.3 * mean(&losses[..20]), "{losses:?}");
}
