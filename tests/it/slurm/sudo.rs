//! A server that is not root: it switches to the accounts that one sudoers line names, and reads their files
//! through the workspace's group.

use std::path::PathBuf;
use std::process::Command;

use cubeloom_domain::slurm::SlurmCalls;
use serde_json::{Value, json};

use super::executor::{calls, workspace};
use super::harness::{shared_program, told};
use super::product::{PIPELINE, add, of_workspace, reported, start, tell, until_running, wrong_settings};
use crate::api::support::{Client, Server};
use crate::cluster::product::ended;
use crate::support::TestApp;

/// A workspace as in docs/slurm.md: owned by the account that writes there, readable by the server's group.
fn own_workspace(account: &str) -> PathBuf {
    let workspace = workspace();
    let owners = format!("{}:{account}", told("CUBELOOM_TEST_SLURM_MEMBER"));
    for (program, word) in [("chown", owners.as_str()), ("chmod", "2750")] {
        assert!(Command::new(program).arg(word).arg(&workspace).status().unwrap().success());
    }
    workspace
}

/// A server under its own account that switches accounts by sudo, with the cluster.
pub fn serve(
    mut app: TestApp,
    account: &str,
    calls: SlurmCalls,
    change: impl FnOnce(&mut Value),
) -> (Server, Client) {
    let words = ["sudo", "-n", "-u", "{account}", "--"];
    tell(&mut app, SlurmCalls { become_account: words.map(ToOwned::to_owned).into(), ..calls });
    app.run_as(account, shared_program());
    let server = Server::start_in(app);
    let mut body = of_workspace(&own_workspace(account));
    change(&mut body);
    let admin = add(&server, &body);
    (server, admin)
}

/// The same, with everything that the commands need.
pub fn with_cluster(change: impl FnOnce(&mut Value)) -> (Server, Client) {
    serve(TestApp::new(), &told("CUBELOOM_TEST_SLURM_SERVER"), calls(), change)
}

fn document(seconds: u32) -> String {
    format!("{}cluster: hall\n", PIPELINE.replace("SECONDS", &seconds.to_string()))
}

/// Runs a gang and a task that reads its outputs. Returns the run.
pub fn runs(admin: &Client) -> String {
    let run = start(admin, &document(1));
    assert_eq!(reported(admin, &run), [json!({"workers": 2}), json!({"twice": 4})]);
    run
}

/// Cancels a gang that would run for minutes.
pub fn starts_and_cancels(admin: &Client) {
    let run = start(admin, &document(600));
    until_running(admin, &run);
    admin.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    assert_eq!(ended(admin, &run)["state"], "cancelled");
}

#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn a_server_that_is_not_root_becomes_accounts_by_one_line_of_sudos() {
    let (_server, admin) = with_cluster(|_| {});
    assert_eq!(wrong_settings(&admin), Vec::<String>::new());
    let run = runs(&admin);
    let tasks = admin.get(&format!("/runs/{run}/attempts")).expect(200).json();
    let used = &tasks["items"][0]["usage"];
    assert!(used["peak_memory"].as_u64().is_some_and(|peak| peak > 0), "{tasks:#}");
    // The account stops the job, too.
    starts_and_cancels(&admin);
}

#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn an_account_that_sudo_does_not_name_is_none_of_the_servers() {
    let stranger = told("CUBELOOM_TEST_SLURM_STRANGER");
    let (_server, admin) = with_cluster(|body| body["slurm"]["way"]["accounts"]["ada"] = json!(stranger));
    // A check reports it before a job fails.
    let found = wrong_settings(&admin);
    let begins = format!(
        "its setting `way.accounts.ada` is wrong: `become` in the server's settings cannot switch to the account `{stranger}`: "
    );
    assert!(found.len() == 1 && found[0].starts_with(&begins) && found[0].contains("sudo: "), "{found:#?}");
    let run = start(&admin, &document(0));
    assert_eq!(ended(&admin, &run)["state"], "failed");
    let tasks = admin.get(&format!("/runs/{run}/tasks")).expect(200).json();
    let failure = &tasks["items"][0]["failure"];
    assert_eq!(failure["kind"], "could_not_start", "{tasks:#}");
    assert!(failure["message"].as_str().unwrap().contains("sudo: "), "{tasks:#}");
}
