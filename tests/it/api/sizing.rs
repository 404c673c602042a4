//! Right-sizing with real programs: a task that requests far too much gets less, and grows when it needs
//! more.

use serde_json::{Value, json};

use super::runs::help::{document, id, start, task, until, until_task};
use super::support::{Client, Server, Who};
use crate::support::{TestApp, wait_for};

const PIPELINES: &str = "/projects/default/pipelines";
const SIZING: &str = "/projects/default/pipelines/hungry/tasks/eat/sizing";
const MIB: u64 = 1 << 20;
const ASKED: u64 = 2048 * MIB;

/// One task that requests 2 GiB and uses as much memory as its parameter says for a while. If a file is
/// named, it first waits for that file in the run's folder.
const HUNGRY: &str = r#"apiVersion: cubeloom/v1
kind: Pipeline
name: hungry
sizing: auto
parameters: {mib: {type: string, default: "100"}, after: {type: string, default: ""}}
tasks:
  - name: eat
    template: command
    resources: {cpu: 200m, memory: 2Gi}
    arguments:
      command:
        - python3
        - -c
        - |
          import os, sys, time
          mib, after = int(sys.argv[1]), os.path.join(os.environ["CUBELOOM_RUN_DIR"], sys.argv[2])
          open(os.path.join(os.environ["CUBELOOM_RUN_DIR"], "began"), "w").close()
          while not os.path.exists(after):
              time.sleep(0.02)
          held = b"x" * (mib << 20)
          time.sleep(1.2)
        - "{{ params.mib }}"
        - "{{ params.after }}"
"#;

/// Runs it to its end. Returns its attempts.
fn eat(client: &Client, mib: u64) -> Vec<Value> {
    let body = json!({"pipeline": "hungry", "parameters": {"mib": mib.to_string()}});
    let started = client.post("/projects/default/runs", &body).expect(201).json();
    eaten(client, &id(&started["run"]))
}

/// Lets it be OOM killed. The server is paused meanwhile, or it would grow the worker's memory in time.
fn starve(server: &Server, client: &Client, mib: u64) -> Vec<Value> {
    let parameters = json!({"mib": mib.to_string(), "after": "fill"});
    let body = json!({"pipeline": "hungry", "parameters": parameters});
    let started = client.post("/projects/default/runs", &body).expect(201).json();
    let run = id(&started["run"]);
    // A paused server starts no program.
    let folder = server.data().join("workspace/default/runs").join(&run);
    wait_for("the worker's program", || folder.join("began").exists());
    server.paused(|| {
        std::fs::write(folder.join("fill"), "").unwrap();
        let exit = server.data().join("runs").join(&run).join("eat.0.1/worker-0/exit.json");
        wait_for("the worker's end", || exit.exists());
    });
    eaten(client, &run)
}

/// The attempts once the run has ended.
fn eaten(client: &Client, run: &str) -> Vec<Value> {
    until(client, run, "succeeded");
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

    // It needs more: it is OOM killed and then gets the requested memory. It has no retries.
    let grown = starve(&server, &editor, 900);
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
    // It used nearly all of it during its last second.
    let of = |what: &str| past[5][what].as_u64().unwrap();
    assert!(of("memory_high") > 900 * MIB && of("memory_high") <= of("peak_memory"), "{known:#}");
    assert!(of("memory_middle") <= of("memory_high"), "{known:#}");
    let changes = known["changes"].as_array().unwrap();
    assert!(changes.len() >= 2 && changes[0]["after"]["memory"] == json!(ASKED), "{known:#}");
    assert!(changes.iter().chain([role]).all(|told| told["risk"].as_f64().unwrap() > 0.0), "{known:#}");

    // After a revert it gets its request. A viewer may not revert.
    let viewer = server.as_(Who::Viewer);
    viewer.post(&format!("{SIZING}/revert"), &json!({})).expect(403);
    let reverted = editor.post(&format!("{SIZING}/revert"), &json!({})).expect(200).json();
    assert_eq!(reverted["reverted_by"], "emil");
    assert_eq!(memory(&eat(&editor, 100)[0]), ASKED);
    let page = viewer.get(&format!("page:{SIZING}")).expect(200).text();
    assert!(page.contains("Reverted to requested resources") && !page.contains("id=\"resume\""), "{page}");
    let resumed = editor.post(&format!("{SIZING}/resume"), &json!({})).expect(200).json();
    assert_eq!(resumed["reverted_by"], Value::Null);
}

/// A program that uses nearly all of 128 MiB, then nearly all of half as much again, then more.
const GROWING: &str = r#"
import os, sys, time
held = []
def hold(mib):
    def own():
        pages = open("/proc/self/statm").read().split()
        return (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE") >> 20
    while own() < mib:
        held.append(bytes([1]) * (1 << 20))
def wait(name):
    while not os.path.exists(os.environ["CUBELOOM_RUN_DIR"] + "/" + name):
        time.sleep(0.02)
hold(123)
wait("192")
hold(185)
wait("288")
hold(210)
"#;

/// The `command` template without right-sizing.
const UNCHECKED: &str = r#"{apiVersion: cubeloom/v1, kind: TaskTemplate, name: unchecked, version: 1.0.0, group: basics,
label: {en: Unchecked, zh: 不检}, help: {en: Is not sized., zh: 不检。}, framework: single,
parameters: {type: object, additionalProperties: false, required: [program],
  properties: {program: {type: string, title: Program}}},
roles: [{name: worker, replicas: 1, resources: {cpu: 100m, memory: 64Mi}}], env: {NO_RESOURCE_CHECK: 'true'},
command: [python3, -c, "{{ args.program }}"]}"#;

fn growing(template: &str, argument: &Value) -> String {
    let task = format!(
        "  - name: eat\n    template: {template}\n    resources: {{cpu: 200m, memory: 128Mi}}\n    arguments: {argument}\n"
    );
    document("growing", &format!("sizing: auto\ntasks:\n{task}"))
}

fn attempts_of(client: &Client, run: &str) -> Vec<Value> {
    let found = client.get(&format!("/runs/{run}/tasks/eat/instances/0/attempts")).expect(200).json();
    found["items"].as_array().unwrap().clone()
}

/// The kernel applies a written limit a moment later: waits until that has happened this many times.
fn given(server: &Server, times: u32) {
    let reader = server.as_(Who::Reader);
    let is_count = |line: &str| {
        line.starts_with("cubeloom_executor_call_duration_seconds_count")
            && line.contains(r#"call="grow""#)
            && line.ends_with(&format!(" {times}"))
    };
    wait_for("more memory to be given", || reader.get("page:/metrics").text().lines().any(is_count));
}

#[test]
fn what_nears_its_memory_limit_gets_more_while_it_runs() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    editor
        .post(
            PIPELINES,
            &json!({"document": growing("command", &json!({"command": ["python3", "-c", GROWING]}))}),
        )
        .expect(201);
    let started = editor.post("/projects/default/runs", &json!({"pipeline": "growing"})).expect(201).json();
    let run = id(&started["run"]);
    for (calls, mib) in [(1, 192), (2, 288)] {
        wait_for("more memory", || {
            attempts_of(&editor, &run).first().is_some_and(|one| memory(one) == mib * MIB)
        });
        given(&server, calls);
        let folder = server.data().join("workspace/default/runs").join(&run);
        std::fs::write(folder.join(mib.to_string()), "").unwrap();
    }
    until(&editor, &run, "succeeded");
    let attempts = attempts_of(&editor, &run);
    assert_eq!((attempts.len(), memory(&attempts[0])), (1, 288 * MIB), "{attempts:#?}");
    let said = attempts[0]["sizing"].as_str().unwrap();
    assert_eq!(said, "memory 288Mi instead of 128Mi: 192Mi was nearly used up while it ran");
    let known = editor.get("/projects/default/pipelines/growing/tasks/eat/sizing").expect(200).json();
    let changes: Vec<_> = known["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["before"]["memory"], &one["after"]["memory"]))
        .collect();
    let [small, middle, large] = [128, 192, 288].map(|mib| json!(mib * MIB));
    assert_eq!(changes, [(&middle, &large), (&small, &middle)], "{known:#}");
    let risk = known["changes"][0]["risk"].as_f64().unwrap();
    assert!(risk > 0.01 && risk < 0.9, "half as much again may be too little: {risk}");

    // The usage is shown with the limit at each time.
    let used = editor.get(&format!("/runs/{run}/tasks/eat/usage")).expect(200).json();
    let worker = &used["workers"][0];
    assert_eq!(worker["asked"]["memory"], small);
    let limits = worker["limits"].as_array().unwrap();
    let had: Vec<_> = limits.iter().map(|limit| &limit["memory"]).collect();
    assert_eq!(had, [&small, &middle, &large], "{limits:#?}");
    let since: Vec<_> = limits.iter().map(|limit| limit["at"].as_str().unwrap()).collect();
    assert!(since.is_sorted() && since[0] == attempts[0]["started_at"], "{since:?}");
}

#[test]
fn a_template_without_sizing_dies_at_its_limit() {
    let server = Server::start();
    let (ada, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    ada.post("/templates", &json!({"document": UNCHECKED})).expect(201);
    let run = start(&editor, &growing("unchecked", &json!({"program": GROWING})));
    until_task(&editor, &run, "eat", "running");
    // A task beside it has grown, so the server has checked for tasks that need more.
    let beside = start(&editor, &growing("command", &json!({"command": ["python3", "-c", GROWING]})));
    given(&server, 1);
    editor.post(&format!("/runs/{beside}/cancel"), &json!({})).expect(202);
    let folder = server.data().join("workspace/default/runs").join(&run);
    std::fs::write(folder.join("192"), "").unwrap();
    until(&editor, &run, "failed");
    let attempts = attempts_of(&editor, &run);
    assert_eq!((attempts.len(), memory(&attempts[0])), (1, 128 * MIB), "{attempts:#?}");
    assert_eq!(attempts[0]["failure"]["kind"], "out_of_memory");
    // It was never eligible to grow, so the message does not explain why it did not.
    let said = attempts[0]["failure"]["message"].as_str().unwrap();
    assert!(attempts[0]["not_grown"].is_null() && !said.contains(" more memory:"), "{attempts:#?}");
}

#[test]
fn what_a_quota_does_not_let_grow_is_said_while_it_runs_and_when_its_memory_runs_out() {
    let server = Server::start();
    let (ada, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let quota = json!({"quotas": {"local": {"limit": {"memory": "160Mi"}}}});
    ada.put("/projects/default/quota", "*", &quota).expect(200);
    let program = GROWING.replace("hold(185)", "hold(154)");
    let document = growing("command", &json!({"command": ["python3", "-c", program]}));
    editor.post(PIPELINES, &json!({"document": document})).expect(201);
    let started = editor.post("/projects/default/runs", &json!({"pipeline": "growing"})).expect(201).json();
    let run = id(&started["run"]);
    wait_for("more memory", || {
        attempts_of(&editor, &run).first().is_some_and(|one| memory(one) == 160 * MIB)
    });
    given(&server, 1);
    let folder = server.data().join("workspace/default/runs").join(&run);
    std::fs::write(folder.join("192"), "").unwrap();
    let not_raised = "its memory was not raised while it ran: the quota allows no more";
    wait_for("a word of it", || attempts_of(&editor, &run)[0]["not_grown"] == json!([not_raised]));
    std::fs::write(folder.join("288"), "").unwrap();
    until(&editor, &run, "failed");
    let attempts = attempts_of(&editor, &run);
    assert_eq!(attempts.len(), 1, "{attempts:#?}");
    let said = attempts[0]["failure"]["message"].as_str().unwrap();
    let not_again = "the server does not retry it with more memory: the quota allows no more";
    assert!(said.contains(" was OOM killed"), "{said}");
    assert!(said.ends_with(&format!("; {not_raised}; {not_again}")), "{said}");
    let page = editor.get(&format!("page:/runs/{run}/tasks/eat")).expect(200).text();
    assert!(page.contains("Memory not increased") && page.contains(not_raised), "{page}");
}

#[test]
fn a_forecast_is_of_what_a_task_gets() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    // It requests half of the machine's 8 CPUs, and uses at most one.
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
    assert_eq!(owner.get(project).expect(200).json()["sizing"], "auto");
    let changed = owner.patch(project, "*", &json!({"sizing": "off"})).expect(200).json();
    assert_eq!(changed["sizing"], "off");
    owner.patch(project, "*", &json!({"sizing": "always"})).expect(422);
}

#[test]
fn the_settings_say_how_new_projects_are_sized() {
    let mut app = TestApp::new();
    app.set("CUBELOOM_SIZING_DEFAULT", "advise");
    let server = Server::start_in(app);
    let admin = server.as_(Who::Administrator);
    assert_eq!(admin.get("/projects/default").expect(200).json()["sizing"], "advise");
    assert_eq!(admin.post("/projects", &json!({"name": "vision"})).expect(201).json()["sizing"], "advise");
    // The operator has decided, so owners are not asked.
    assert!(!admin.get("page:/").expect(200).text().contains("data-sizing"));
}

/// A project from before right-sizing was the default.
#[test]
fn the_owners_of_an_old_project_are_asked_once() {
    let server = Server::start();
    let asks =
        |client: &Client, page: &str| client.get(page).expect(200).text().contains("data-sizing=\"auto\"");
    for (answer, pages) in
        [("auto", ["page:/", "page:/projects/default"]), ("advise", ["page:/projects/default", "page:/"])]
    {
        server.sql("UPDATE projects SET sizing = 'advise', sizing_chosen = 0");
        server.stop();
        server.run();
        let (owner, viewer) = (server.as_(Who::Owner), server.as_(Who::Viewer));
        assert_eq!(
            owner.get("/projects/default").expect(200).json()["sizing"],
            "advise",
            "it stays what it was"
        );
        for page in pages {
            assert!(asks(&owner, page) && !asks(&viewer, page), "{page}");
        }
        owner.patch("/projects/default", "*", &json!({"sizing": answer})).expect(200);
        for page in pages {
            assert!(!asks(&owner, page), "{page}");
        }
    }
}
