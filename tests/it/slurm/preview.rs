//! The preview of a job before its submission, and the ids that Slurm knows it by.

use std::fs;

use serde_json::{Value, json};

use super::harness::{slurm, told};
use super::product::{PIPELINE, body, start, until_running, with_cluster};
use crate::api::support::{Client, Who};
use crate::cluster::product::{ended, until};

const COMPILE: &str = "/projects/default/compile";

/// A script without the run's id and the name derived from it, which differ from run to run.
fn of_any_run(script: &str, run: &str) -> String {
    let name = script.lines().find_map(|line| line.strip_prefix("#SBATCH --job-name=")).unwrap();
    script.replace(name, "NAME").replace(run, "RUN")
}

/// The script preview of a task.
fn shown(client: &Client, run: &str, task: &str) -> Value {
    client.get(&format!("/runs/{run}/objects?task={task}")).expect(200).json()
}

/// The folders of templates and code belong to the account: the script for another account, or for none,
/// would differ.
#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn what_is_shown_before_is_what_is_submitted_for_the_person() {
    let body = body();
    let (server, admin) = with_cluster(&body);
    let document = json!({"document": format!("{}cluster: hall\n", PIPELINE.replace("SECONDS", "3"))});
    let compiled = admin.post(COMPILE, &document).expect(200).json();
    let shown_first = &compiled["tasks"][0]["jobs"][0];
    let own = format!(".templates/{}/", told("CUBELOOM_TEST_SLURM_MEMBER"));
    let folder = shown_first["job"]["workers"][0]["env"]["CUBELOOM_TEMPLATE_DIR"].to_string();
    assert!(folder.contains(&own), "{folder}");
    let refused = server.as_(Who::Editor).post(COMPILE, &document).expect(200).json();
    let said = refused["tasks"][0]["jobs"].to_string();
    assert!(said.contains("has no account on the cluster `hall`"), "{said}");

    let run = start(&admin, document["document"].as_str().unwrap());
    let waits = shown(&admin, &run, "told");
    assert_eq!((&waits["bound"], &waits["attempt"]), (&json!(false), &Value::Null));
    assert_eq!(ended(&admin, &run)["state"], "succeeded");
    let workspace = body["slurm"]["facts"]["workspace"].as_str().unwrap();
    let submitted = |task: &str| {
        fs::read_to_string(format!("{workspace}/runs/{run}/.attempts/{task}/0/1/job.sh")).unwrap()
    };
    let before = shown_first["script"].as_str().unwrap();
    let compiled_as = compiled["run"]["id"].as_str().unwrap();
    assert_eq!(of_any_run(before, compiled_as), of_any_run(&submitted("crowd"), &run));
    assert_eq!(waits["object"]["script"], submitted("told"));
    assert_eq!(shown(&admin, &run, "told")["object"]["script"], submitted("told"));
}

/// People can use these ids with Slurm's commands.
#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn the_id_of_a_job_is_told_while_it_runs_and_after() {
    let (_server, admin) = with_cluster(&body());
    let run = start(&admin, &format!("{}cluster: hall\n", PIPELINE.replace("SECONDS", "60")));
    let attempt = format!("/runs/{run}/tasks/crowd/instances/0/attempts/1/notices");
    let notice = |reason: &str| {
        let items = admin.get(&attempt).expect(200).json()["items"].as_array().unwrap().clone();
        items.into_iter().find(|one| one["reason"] == reason)
    };
    until_running(&admin, &run);
    until("the cluster says where it runs", || notice("Running").is_some());
    let (submitted, running) = (notice("Submitted").unwrap(), notice("Running").unwrap());
    let id = submitted["of"].as_str().unwrap().strip_prefix("Job/").unwrap();
    assert_eq!(
        (&running["of"], &submitted["message"]),
        (&submitted["of"], &json!(format!("Submitted batch job {id}")))
    );
    let node = slurm(&["squeue", "-h", "-j", id, "-o", "%N"]);
    assert_eq!(running["message"], format!("squeue: {}", node.trim()));
    admin.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    ended(&admin, &run);
    assert_eq!(
        (notice("Submitted").map(|one| one["of"].clone()), notice("Running")),
        (Some(submitted["of"].clone()), None)
    );
}
