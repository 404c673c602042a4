//! Changes that people make outside the server: with Slurm's own commands, and by cordoning nodes.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::harness::told;
use super::product::{PIPELINE, body, start, until_running, with_cluster};
use crate::api::runs::pages::page;
use crate::cluster::product::{ended, until};

/// A job that a person cancelled in Slurm is not retried.
#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn a_job_that_somebody_cancels_is_not_tried_again() {
    let body = body();
    let (_server, admin) = with_cluster(&body);
    let run = start(&admin, &format!("{}cluster: hall\n", PIPELINE.replace("SECONDS", "60")));
    let shown = page(&admin, &format!("/runs/{run}?tab=objects&task=told"));
    assert!(shown.contains("on hall") && shown.contains("output workers of crowd"), "{shown}");
    let workspace = body["slurm"]["facts"]["workspace"].as_str().unwrap();
    let attempt = format!("{workspace}/runs/{run}/.attempts/crowd/0/1");
    let script = page(&admin, &format!("/runs/{run}?tab=objects&task=crowd"));
    assert!(script.contains("<code>#!/bin/bash\n") && script.contains("#SBATCH"), "{script}");
    until_running(&admin, &run);
    let names = fs::read_to_string(format!("{attempt}/job.sh")).unwrap();
    let name = names.lines().find_map(|line| line.strip_prefix("#SBATCH --job-name=")).unwrap().to_owned();
    let scancel =
        Command::new("scancel").args(["--name", &name]).env("SLURM_CONF", told("SLURM_CONF")).status();
    assert!(scancel.unwrap().success());
    assert_eq!(ended(&admin, &run)["state"], "failed");
    let told = admin.get(&format!("/runs/{run}/tasks/crowd")).expect(200).json().to_string();
    assert!(told.contains("it was cancelled on the cluster"), "{told}");
    let attempts = fs::read_dir(format!("{workspace}/runs/{run}/.attempts/crowd/0")).unwrap().count();
    assert_eq!(attempts, 1);
}

/// No job goes to cordoned nodes. Once they are uncordoned, jobs do.
#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn no_job_goes_to_nodes_that_are_set_aside() {
    let body = body();
    let (_server, admin) = with_cluster(&body);
    let nodes = || {
        let seen = admin.get("/clusters/hall").expect(200).json();
        let names =
            seen["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let all = nodes();
    let (kept, aside) = all.split_last().unwrap();
    for node in aside {
        admin.put(&format!("/clusters/hall/aside/{node}"), "", &json!({"note": "its fan"})).expect(201);
    }
    until("the nodes are set aside", || nodes() == [kept.clone()]);
    let document = PIPELINE.replace("SECONDS", "0");
    let run = start(&admin, &format!("{document}cluster: hall\n"));
    assert_eq!(ended(&admin, &run)["state"], "succeeded");
    let workspace = body["slurm"]["facts"]["workspace"].as_str().unwrap();
    let attempt = format!("{workspace}/runs/{run}/.attempts/crowd/0/1");
    let script = fs::read_to_string(format!("{attempt}/job.sh")).unwrap();
    assert!(script.contains(&format!("#SBATCH --exclude={}\n", aside.join(","))), "{script}");
    let places = fs::read_to_string(format!("{attempt}/places")).unwrap();
    assert!(places.lines().all(|line| line.split(' ').nth(1) == Some(kept.as_str())), "{places}");
    for node in aside {
        admin.delete(&format!("/clusters/hall/aside/{node}"), "").expect(204);
    }
    until("the nodes are taken back", || nodes() == all);
}
