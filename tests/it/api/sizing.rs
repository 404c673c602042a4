//! Sizing, with real programs: a task that asks for far too much gets less, and grows when it needs more.

use serde_json::{Value, json};

use super::runs::help::{document, id, start, task, until, until_task};
use super::support::{Client, Server, Who};

const PIPELINES: &str = "/projects/default/pipelines";
const SIZING: &str = "/projects/default/pipelines/hungry/tasks/eat/sizing";
const MIB: u64 = 1 << 20;
const ASKED: u64 = 2048 * MIB;

/// One task that asks for 2 GiB, and holds as much as its parameter says for a while.
const HUNGRY: &str = r#"apiVersion: cubeloom/v1
kind: Pipeline
name: hungry
sizing: auto
parameters: {mib: {type: string, default: "100"}}
tasks:
  - name: eat
    template: command
    resources: {cpu: 200m, memory: 2Gi}
    arguments:
      command: [python3, -c, "import sys, time; held = b'x' * (int(sys.argv[1]) << 20); time.sleep(1.2)", "{{ params.mib }}"]
"#;

/// Runs it to its end, and gives its attempts.
fn eat(client: &Client, mib: u64) -> Vec<Value> {
    let body = json!({"pipeline": "hungry", "parameters": {"mib": mib.to_string()}});
    let started = client.post("/projects/default/runs", &body).expect(201).json();
    let run = id(&started["run"]);
    until(client, &run, "succeeded");
    let found = client.get(&format!("/runs/{run}/tasks/eat/instances/0/attempts")).expect(200).json();
    let mut attempts = found["items"].as_array().unwrap().clone();
    attempts.sort_by_key(|attempt| attempt["attempt"].as_u64());
    attempts
}

fn memory(attempt: &Value) -> u64 {
    attempt["memory"].as_u64().unwrap()
}

#[test]
fn a_task_gets_what_it_needs_and_more_when_that_does_not_suffice() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    editor.post(PIPELINES, &json!({"document": HUNGRY})).expect(201);
    let before = editor.get(SIZING).expect(200).json();
    assert_eq!((&before["run"], &before["roles"]), (&Value::Null, &json!([])), "it has not run yet");
    editor.get(&SIZING.replace("eat", "drink")).expect(404);
    for _ in 0..3 {
        eat(&editor, 100);
    }
    let less = eat(&editor, 100);
    assert_eq!(less.len(), 1);
    assert!((100 * MIB..ASKED / 2).contains(&memory(&less[0])), "{less:#?}");
    let said = less[0]["sizing"].as_str().unwrap();
    assert!(said.starts_with("memory ") && said.contains(" instead of 2Gi: peaks of 3 attempts"), "{said}");

    // It needs more than that: its memory runs out, and what was asked for comes next. It has no retries.
    let grown = eat(&editor, 900);
    assert_eq!(grown.len(), 2, "{grown:#?}");
    assert_eq!(
        (&grown[0]["failure"]["kind"], &grown[1]["outcome"]),
        (&json!("out_of_memory"), &json!("succeeded"))
    );
    assert!(memory(&grown[0]) < 900 * MIB && memory(&grown[1]) == ASKED, "{grown:#?}");

    let known = editor.get(SIZING).expect(200).json();
    let role = &known["roles"][0];
    let past = role["past"].as_array().unwrap();
    assert_eq!((past.len(), &known["mode"], &role["asked"]["memory"]), (6, &json!("auto"), &json!(ASKED)));
    assert!(
        past[5]["peak_memory"].as_u64().unwrap() > 900 * MIB && past[4]["out_of_memory"] == true,
        "{known:#}"
    );
    let changes = known["changes"].as_array().unwrap();
    assert!(changes.len() >= 2 && changes[0]["after"]["memory"] == json!(ASKED), "{known:#}");

    // Taken back, it gets what it asks for; whoever only looks may not do that.
    let viewer = server.as_(Who::Viewer);
    viewer.post(&format!("{SIZING}/revert"), &json!({})).expect(403);
    let reverted = editor.post(&format!("{SIZING}/revert"), &json!({})).expect(200).json();
    assert_eq!(reverted["reverted_by"], "emil");
    assert_eq!(memory(&eat(&editor, 100)[0]), ASKED);
    let page = viewer.get(&format!("page:{SIZING}")).expect(200).text();
    assert!(page.contains("Sizing is taken back") && !page.contains("id=\"resume\""), "{page}");
    let resumed = editor.post(&format!("{SIZING}/resume"), &json!({})).expect(200).json();
    assert_eq!(resumed["reverted_by"], Value::Null);
}

#[test]
fn a_forecast_is_of_what_a_task_gets() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    // It asks for half of the machine's 8 cores, and uses one at the most.
    let greedy = HUNGRY.replace("cpu: 200m", "cpu: '4'");
    editor.post(PIPELINES, &json!({"document": greedy})).expect(201);
    for _ in 0..3 {
        eat(&editor, 100);
    }
    let hold = task("hold", "sleep 300", "").replace("cpu: 100m", "cpu: '6'");
    let run = start(&editor, &document("holds", &format!("tasks:\n{hold}")));
    until_task(&editor, &run, "hold", "running");
    let outlook = || {
        let forecast = editor.post("/projects/default/forecast", &json!({"document": greedy}));
        forecast.expect(200).json()["tasks"][0]["outlook"].clone()
    };
    assert_eq!(outlook(), "starts");
    editor.post(&format!("{SIZING}/revert"), &json!({})).expect(200);
    assert_eq!(outlook(), "waits");
    editor.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    until(&editor, &run, "cancelled");
}

#[test]
fn a_project_says_whether_it_is_sized() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let project = "/projects/default";
    assert_eq!(owner.get(project).expect(200).json()["sizing"], "advise");
    let changed = owner.patch(project, "*", &json!({"sizing": "auto"})).expect(200).json();
    assert_eq!(changed["sizing"], "auto");
    owner.patch(project, "*", &json!({"sizing": "always"})).expect(422);
}
