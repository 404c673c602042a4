//! The whole product on a real Slurm: a cluster is added through the API, checked, and runs the same as this
//! machine.

use std::fs;
use std::path::Path;

use cubeloom_domain::slurm::{SlurmCalls, SlurmWay};
use serde_json::{Value, json};

use super::executor::{calls, facts, workspace};
use super::harness::told;
use crate::api::runs::help::Events;
use crate::api::support::{Client, Server, Who};
use crate::cluster::product::{ended, succeeded, until, uploaded_to};
use crate::support::TestApp;
use crate::templates::ledger;
use crate::templates::processes::assert_processes_met;
use crate::templates::rig::job;

/// Two tasks: workers that report outputs, and a task that reads them.
pub const PIPELINE: &str = r#"
apiVersion: cubeloom/v1
kind: Pipeline
name: two
tasks:
  - name: crowd
    template: indexed
    arguments:
      workers: 2
      requirements: []
      command: [sh, -c, 'sleep SECONDS; echo "{\"output\": {\"workers\": $CUBELOOM_WORLD_SIZE}}" >>$CUBELOOM_OUTPUTS; echo ran >>"$CUBELOOM_RUN_DIR/ran"']
    resources: {cpu: 500m, memory: 64Mi}
    outputs: [workers]
  - name: told
    template: indexed
    needs: [crowd]
    arguments:
      workers: 1
      requirements: []
      command: [sh, -c, 'echo "{\"output\": {\"twice\": $((2 * ${1#n}))}}" >>$CUBELOOM_OUTPUTS', sh, "n{{ tasks.crowd.outputs.workers }}"]
    resources: {cpu: 500m, memory: 64Mi}
    outputs: [twice]
"#;

pub fn body() -> Value {
    of_workspace(&workspace())
}

/// The test cluster with the members' accounts and this workspace.
pub fn of_workspace(workspace: &Path) -> Value {
    let way = SlurmWay::of_accounts([("ada".to_owned(), told("CUBELOOM_TEST_SLURM_MEMBER"))].into());
    json!({"name": "hall", "access": "slurm", "slurm": {"facts": facts(workspace), "way": way}})
}

/// A server with Slurm clusters enabled.
fn server() -> Server {
    let mut app = TestApp::new();
    tell(&mut app, calls());
    Server::start_in(app)
}

/// Configures how a server calls the commands of the test cluster.
pub fn tell(app: &mut TestApp, calls: SlurmCalls) {
    let words = calls.become_account.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
    let conf = calls.conf.unwrap();
    let rest = calls.slurmrestd.map(|rest| {
        format!(", slurmrestd = {{url = {:?}, key = {:?}, user = {:?}}}", rest.url, rest.key, rest.user)
    });
    let rest = rest.unwrap_or_default();
    app.set(
        "CUBELOOM_SLURM_HALL",
        format!("{{become = [{words}], conf = {conf:?}, path = {:?}{rest}}}", calls.path),
    );
}

pub fn with_cluster(body: &Value) -> (Server, Client) {
    let server = server();
    let admin = add(&server, body);
    (server, admin)
}

/// Adds the cluster to a server, and waits until its nodes are known.
pub fn add(server: &Server, body: &Value) -> Client {
    let admin = server.as_(Who::Administrator);
    admin.post("/clusters", body).expect(201);
    until("the cluster's nodes are known", || {
        let seen = admin.get("/clusters/hall").expect(200).json();
        seen["standing"]["state"] == "connected" && seen["nodes"].as_array().unwrap().len() == 4
    });
    admin
}

pub fn start(client: &Client, document: &str) -> String {
    let started = client.post("/projects/default/runs", &json!({"document": document})).expect(201).json();
    started["run"]["id"].as_str().unwrap().to_owned()
}

/// Waits until the workers of a run's first task run. A task counts as running from its submission on, an
/// attempt does not.
pub fn until_running(client: &Client, run: &str) {
    until("the workers run", || {
        let attempts = client.get(&format!("/runs/{run}/attempts")).expect(200).json();
        attempts["items"][0]["state"] == "running"
    });
}

/// The outputs of a run's tasks, once it has succeeded.
pub fn reported(client: &Client, run: &str) -> Vec<Value> {
    let seen = ended(client, run);
    let tasks = client.get(&format!("/runs/{run}/tasks")).expect(200).json();
    assert_eq!(seen["state"], "succeeded", "{tasks:#}");
    let outputs = client.get(&format!("/runs/{run}/outputs")).expect(200).json();
    outputs["items"].as_array().unwrap().iter().map(|one| one["outputs"].clone()).collect()
}

#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn a_pipeline_reports_on_slurm_what_it_does_on_this_machine() {
    let (_server, admin) = with_cluster(&body());
    let check = admin.get("/clusters/hall/check").expect(200).json();
    assert!(check["version"].as_str().unwrap().starts_with("slurm"), "{check:#}");
    assert_eq!(admin.get("/clusters/hall").expect(200).json()["kind"], "slurm");
    let document = PIPELINE.replace("SECONDS", "0");
    let here = reported(&admin, &start(&admin, &document));
    let there = reported(&admin, &start(&admin, &format!("{document}cluster: hall\n")));
    assert_eq!(here, [json!({"workers": 2}), json!({"twice": 4})]);
    assert_eq!(here, there);
}

/// The server is killed while a job runs: the next one adopts the job, and nothing runs twice.
#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn a_server_that_is_killed_takes_its_jobs_up_again() {
    let body = body();
    let (server, admin) = with_cluster(&body);
    let document = format!("{}cluster: hall\n", PIPELINE.replace("SECONDS", "4"));
    let run = start(&admin, &document);
    until_running(&admin, &run);
    server.kill();
    server.run();
    let admin = server.as_(Who::Administrator);
    assert_eq!(reported(&admin, &run), [json!({"workers": 2}), json!({"twice": 4})]);
    let workspace = body["slurm"]["facts"]["workspace"].as_str().unwrap();
    let ran = fs::read_to_string(format!("{workspace}/runs/{run}/ran")).unwrap();
    assert_eq!(ran.lines().count(), 2);
}

/// A running worker's log can be read from an offset and followed.
#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn a_log_is_followed_while_its_job_runs() {
    const LINES: [&str; 3] = ["line 1\n", "line 2\n", "line 3\n"];
    let body = body();
    let (server, admin) = with_cluster(&body);
    let document = r#"
apiVersion: cubeloom/v1
kind: Pipeline
name: talk
cluster: hall
tasks:
  - name: say
    template: command
    arguments:
      command: [sh, -c, 'for n in 1 2 3; do echo line $n; until [ -e "$CUBELOOM_RUN_DIR/heard-$n" ]; do sleep 0.1; done; done']
    resources: {cpu: 500m, memory: 64Mi}
"#;
    let run = start(&admin, document);
    until_running(&admin, &run);
    let follower = Events::open(&admin, &format!("/runs/{run}/logs/events?task=say"), None);
    let workspace = body["slurm"]["facts"]["workspace"].as_str().unwrap();
    let mut read = String::new();
    for (at, line) in LINES.into_iter().enumerate() {
        let followed = follower.next();
        assert_eq!((followed.name.as_str(), &followed.data["text"]), ("log", &json!(line)));
        let rest = format!("task=say&worker=worker-0&stream=stdout&offset={}", read.len());
        let page = admin.get(&format!("/runs/{run}/logs/text?{rest}")).expect(200).json();
        read.extend(page["chunks"].as_array().unwrap().iter().map(|chunk| chunk["text"].as_str().unwrap()));
        assert_eq!((read.as_str(), &page["ended"]), (LINES[..=at].concat().as_str(), &json!(false)));
        fs::write(format!("{workspace}/runs/{run}/heard-{}", at + 1), "").unwrap();
    }
    let rest = follower.rest();
    assert!(rest.len() == 1 && rest[0].name == "end", "{rest:?}");
    assert_eq!(ended(&admin, &run)["state"], "succeeded");
    let said = |words: &[&str]| server.expect(0, &[&["logs", &run, "say"], words].concat()).out;
    assert_eq!(said(&["--worker", "worker-0", "--stdout"]), LINES.concat());
    assert_eq!(said(&["--worker", "worker-0", "--stdout", "--tail", "1"]), LINES[2]);
}

/// Each worker is two processes. They discover each other by facts that only the nodes know: addresses, and
/// ports beyond the workers'.
#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn processes_of_workers_find_each_other_by_their_own_places() {
    let body = body();
    let (_server, admin) = with_cluster(&body);
    let document = fs::read_to_string(job("processes")).unwrap();
    let code =
        uploaded_to(&admin, "default", Path::new(&job("processes")).parent().unwrap().to_str().unwrap());
    let run = succeeded(&admin, &format!("{document}\ncluster: hall\n"), &code);
    let workspace = Path::new(body["slurm"]["facts"]["workspace"].as_str().unwrap());
    assert_processes_met(&ledger::read(&workspace.join("runs").join(&run)));
}

/// The problems that a check finds in the cluster's settings.
pub fn wrong_settings(client: &Client) -> Vec<String> {
    let check = client.get("/clusters/hall/check").expect(200).json();
    let problems = check["problems"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned());
    problems.filter(|one| one.starts_with("its setting ")).collect()
}

#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn a_check_names_each_setting_with_which_no_job_could_run() {
    let (_well, admin) = with_cluster(&body());
    assert_eq!(wrong_settings(&admin), Vec::<String>::new());

    let mut wrong = body();
    let facts = &mut wrong["slurm"]["facts"];
    facts["partition"] = json!("old");
    facts["node_groups"]["cards"]["features"] = json!(["tape"]);
    facts["cards"]["types"] = json!(["a100", "v100"]);
    facts["features"] = json!({"disk=ssd": "ssd", "disk=tape": "tape"});
    facts["workspace"] = json!("/no-such-folder/{project}");
    facts["program"] = json!("/no-such-folder/cubeloom");
    wrong["slurm"]["way"]["accounts"]["bob"] = json!("no-such-account");
    let (_server, admin) = with_cluster(&wrong);
    let found = wrong_settings(&admin);
    let member = told("CUBELOOM_TEST_SLURM_MEMBER");
    for (field, why) in [
        ("facts.partition", "the partition `old` has no nodes".to_owned()),
        (
            "facts.node_groups.cards.features",
            "no node of the partition `cards` has the feature `tape`".into(),
        ),
        ("facts.features.disk=tape", "no node has the feature `tape`".into()),
        ("facts.cards.types", "no node has GPUs of the type `v100`; there are: a100, h100".into()),
        ("way.accounts.bob", "id: ".into()),
        ("facts.program", format!("it cannot be started as `{member}`: ")),
        ("facts.workspace", format!("it can be neither written nor created as `{member}`")),
    ] {
        let begins = format!("its setting `{field}` is wrong: {why}");
        assert!(found.iter().any(|one| one.starts_with(&begins)), "{begins}: {found:#?}");
    }
    assert_eq!(found.len(), 7, "{found:#?}");
}

#[ignore = "needs a Slurm: make test-slurm"]
#[test]
fn what_is_wrong_with_a_cluster_is_named_with_its_field() {
    let server = server();
    let admin = server.as_(Who::Administrator);
    let mut wrong = body();
    wrong["slurm"]["facts"]["qos"] = json!("-x");
    wrong["slurm"]["way"]["become"] = json!(["sudo", "{account}"]);
    wrong["slurm"]["way"]["accounts"]["bob"] = json!("0");
    let refused = admin.post("/clusters", &wrong).expect(422).json();
    let text = refused.to_string();
    assert!(text.contains("/slurm/facts/qos") && text.contains("/slurm/way/become"), "{refused:#}");
    assert!(text.contains("/slurm/way/accounts/bob"), "{refused:#}");
    let mut other = body();
    other["name"] = json!("loft");
    let refused = admin.post("/clusters", &other).expect(422).json().to_string();
    assert!(refused.contains("\"/name\"") && refused.contains("[slurm.loft]"), "{refused}");
    let missing = admin.post("/clusters", &json!({"name": "hall", "access": "slurm"})).expect(422).json();
    assert!(missing.to_string().contains("\"/slurm\""), "{missing:#}");
}
