//! The example of the documentation, on this machine and on Slurm. Its nodes need only a Python with the
//! packages first on the workers' PATH, and Open MPI: here, the environment of this machine's workers.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::executor::calls;
use super::product::{add, body, tell};
use crate::api::runs::pages::page;
use crate::api::support::{Client, Server, Who};
use crate::cluster::product::{DIGITS, succeeded, uploaded};
use crate::templates::rig;

/// The environment of this machine's workers, derived from where the first task found its data.
fn python(client: &Client, run: &str) -> PathBuf {
    let outputs = client.get(&format!("/runs/{run}/outputs")).expect(200).json();
    let items = outputs["items"].as_array().unwrap();
    let located = items.iter().find(|one| one["task"] == "locate").unwrap();
    let file = located["outputs"]["files"][0].as_str().unwrap().strip_prefix("file://").unwrap().to_owned();
    let mut above = Path::new(&file).ancestors();
    let venv = above.find(|folder| folder.join("bin/python").exists());
    fs::canonicalize(venv.unwrap_or_else(|| panic!("no environment is above {file}"))).unwrap()
}

#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn the_example_has_the_same_outputs_on_slurm_as_on_this_machine() {
    let mut app = rig::app();
    tell(&mut app, calls());
    let server = Server::start_in(app);
    let admin = server.as_(Who::Administrator);
    let document = fs::read_to_string(format!("{DIGITS}/pipeline.yaml")).unwrap();
    let code = uploaded(&admin);
    let here = succeeded(&admin, &document, &code);
    let mut body = body();
    let path = format!("{}/bin:/usr/bin:/bin", python(&admin, &here).display());
    body["slurm"]["facts"]["env"]["PATH"] = json!(path);
    add(&server, &body);
    let there = succeeded(&admin, &format!("{document}\ncluster: hall\n"), &code);

    let compared = admin.get(&format!("/runs/{there}/compare?with={here}")).expect(200).json();
    let mut same = Vec::new();
    for task in compared["tasks"].as_array().unwrap() {
        assert_eq!(task["side"], "both", "{task:#}");
        for output in task["outputs"].as_array().unwrap() {
            // Paths contain the run's folder, which differs.
            if !output["left"].to_string().contains('/') {
                assert_eq!(output["same"], true, "{output:#}");
                same.push(output["name"].as_str().unwrap().to_owned());
            }
        }
    }
    for name in ["features", "images", "held_out", "loss", "best", "accuracy"] {
        assert!(same.iter().any(|one| one == name), "{name}: {same:?}");
    }
    let shown = page(&admin, &format!("/runs/{there}/compare?with={here}"));
    assert!(
        [here.as_str(), &there, "evaluate", ">local<", ">hall<"].iter().all(|word| shown.contains(word)),
        "{shown}"
    );
}
