//! Lists of runs, tasks and instances; the graph, the manifests, the history, the comparison of two runs.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::help::{document, id, start, task, until};
use crate::api::support::{Client, Server, Who};
use crate::support::wait_for;

fn ids(page: &Value) -> Vec<String> {
    page["items"].as_array().unwrap().iter().map(id).collect()
}

/// All pages of a list; `between` runs after each.
fn pages(client: &Client, path: &str, mut between: impl FnMut()) -> Vec<String> {
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("{path}&cursor={cursor}")).expect(200).json();
        all.extend(ids(&page));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => return all,
        }
        between();
    }
}

#[test]
fn a_list_stays_in_order_while_runs_are_added() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let text = document("quick", &format!("tasks:\n{}", task("a", "true", "")));
    let runs: Vec<String> = (0..7).map(|_| start(&editor, &text)).collect();
    let newest_first: Vec<String> = runs.iter().rev().cloned().collect();
    let seen = pages(&editor, "/runs?limit=2", || {
        start(&editor, &text);
    });
    assert_eq!(seen, newest_first, "what is new is before the first page");
    let oldest_first = pages(&editor, "/runs?limit=3&sort=created", || {});
    assert_eq!(oldest_first[..7], runs[..]);
    let unique: BTreeSet<&String> = oldest_first.iter().collect();
    assert_eq!(unique.len(), oldest_first.len());
    editor.get("/runs?limit=0").expect(422);
    editor.get("/runs?limit=201").expect(422);
    editor.get("/runs?limit=x").expect(422).problem("invalid");
    editor.get("/runs?cursor=bm9wZQ").expect(422).problem("invalid");
}

#[test]
fn a_list_follows_a_run_that_goes_on() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let (first, last) = (server.path("first"), server.path("last"));
    let wait = |file: &Path| {
        std::fs::write(file, "").unwrap();
        format!("while [ -e {} ]; do sleep 0.1; done", file.display())
    };
    let tasks = [task("a", &wait(&first), ""), task("b", &wait(&last), "    needs: [a]\n")].concat();
    start(&editor, &document("followed", &format!("tasks:\n{tasks}")));
    let listed = |states: Value| {
        wait_for(&format!("the list to show {states}"), || {
            editor.get("/runs").expect(200).json()["items"][0]["tasks"]["states"] == states
        });
    };
    listed(json!({"running": 1, "pending": 1}));
    std::fs::remove_file(&first).unwrap();
    listed(json!({"succeeded": 1, "running": 1}));
    std::fs::remove_file(&last).unwrap();
    listed(json!({"succeeded": 2}));
}

#[test]
fn filters_choose_runs() {
    let server = Server::start();
    let (editor, owner) = (server.as_(Who::Editor), server.as_(Who::Owner));
    let of = |name: &str, line: &str| document(name, &format!("tasks:\n{}", task("a", line, "")));
    let good = start(&editor, &of("apple", "true"));
    let bad = start(&owner, &of("pear", "exit 3"));
    until(&editor, &good, "succeeded");
    let failed = until(&editor, &bad, "failed");
    let list = |query: &str| ids(&editor.get(&format!("/projects/default/runs?{query}")).expect(200).json());
    assert_eq!(list("state=failed"), std::slice::from_ref(&bad));
    assert_eq!(list("state=failed,succeeded"), [bad.clone(), good.clone()]);
    assert!(list("state=live").is_empty());
    assert_eq!(list("pipeline=apple"), std::slice::from_ref(&good));
    assert_eq!(list("user=olga"), std::slice::from_ref(&bad));
    assert_eq!(list("text=EAR"), std::slice::from_ref(&bad));
    assert_eq!(list(&format!("text={}", &good[10..])), std::slice::from_ref(&good));
    let created = failed["created_at"].as_str().unwrap();
    assert_eq!(list(&format!("since={created}")), std::slice::from_ref(&bad));
    assert_eq!(list(&format!("until={created}")), std::slice::from_ref(&good));
    for (query, path) in [("state=odd", "/state"), ("since=yesterday", "/since"), ("sort=name", "/sort")] {
        let refused = editor.get(&format!("/runs?{query}")).expect(422).problem("invalid");
        assert_eq!(refused["problems"][0]["path"], path, "{refused}");
    }
    let task = super::help::of_task(&editor, &bad, "a");
    assert_eq!(task["failure"]["kind"], "exit");
    assert_eq!((&task["failure"]["exit_code"], &task["failure"]["worker"]), (&json!(3), &json!("worker-0")));
}

#[test]
fn instances_come_in_pages_and_say_what_became_of_each() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let report = r#"echo '{"output": {"twice": {{ item | times(2) }}}}' >> $CUBELOOM_OUTPUTS; exit {{ 1 if item == 3 else 0 }}"#;
    let tasks = task("each", report, "    for_each: {list: [1, 2, 3, 4, 5]}\n");
    let run = start(&editor, &document("five", &format!("tasks:\n{tasks}")));
    until(&editor, &run, "failed");
    let path = format!("/runs/{run}/tasks/each/instances?limit=2");
    let mut all: Vec<Value> = Vec::new();
    let mut cursor = String::new();
    while all.len() < 5 {
        let page = editor.get(&format!("{path}&cursor={cursor}")).expect(200).json();
        all.extend(page["items"].as_array().unwrap().iter().cloned());
        cursor = page["next_cursor"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!(cursor, "");
    for (at, one) in (0..).zip(&all) {
        assert_eq!((&one["instance"], &one["item"]), (&json!(at), &json!(at + 1)));
        assert_eq!(one["state"], if at == 2 { "failed" } else { "succeeded" });
        assert_eq!(one["outputs"]["twice"], (at + 1) * 2);
        assert!(one["run_seconds"].is_number() && one["wait_seconds"].is_number(), "{one}");
    }
    assert_eq!(all[2]["failure"]["exit_code"], 1);
    let in_state = |state: &str| {
        let found = editor.get(&format!("/runs/{run}/tasks/each/instances?state={state}")).expect(200).json();
        found["items"].as_array().unwrap().iter().map(|one| one["instance"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(
        (in_state("failed"), in_state("succeeded")),
        (vec![json!(2)], [0, 1, 3, 4].map(Value::from).to_vec())
    );
    assert_eq!((in_state("reused"), in_state("")), (Vec::new(), [0, 1, 2, 3, 4].map(Value::from).to_vec()));
    let unknown =
        editor.get(&format!("/runs/{run}/tasks/each/instances?state=lost")).expect(422).problem("invalid");
    assert_eq!(unknown["problems"][0]["path"], "/state");
    let shown = super::help::of_task(&editor, &run, "each");
    assert_eq!(shown["instances"], json!({"total": 5, "states": {"succeeded": 4, "failed": 1}}));
    assert_eq!((&shown["state"], &shown["failure"]["instance"]), (&json!("failed"), &json!(2)));
    let outputs = editor.get(&format!("/runs/{run}/outputs?limit=3")).expect(200).json();
    assert_eq!(outputs["items"].as_array().unwrap().len(), 3);
    let next = outputs["next_cursor"].as_str().unwrap();
    let outputs = editor.get(&format!("/runs/{run}/outputs?limit=3&cursor={next}")).expect(200).json();
    let left: Vec<&Value> = outputs["items"].as_array().unwrap().iter().map(|one| &one["instance"]).collect();
    assert_eq!(left, [3, 4]);
    editor.get(&format!("/runs/{run}/tasks/none")).expect(404).problem("not-found");
    let attempts = editor.get(&format!("/runs/{run}/attempts")).expect(200).json();
    assert_eq!(attempts["items"].as_array().unwrap().len(), 5);
}

#[test]
fn a_run_shows_its_graph_its_objects_and_its_past() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let report = r#"echo '{"output": {"rows": 7}}' >> $CUBELOOM_OUTPUTS"#;
    let held = server.path("held");
    std::fs::write(&held, "").unwrap();
    let wait = format!("while [ -e {} ]; do sleep 0.1; done", held.display());
    let tasks = [
        task("pull", report, ""),
        task("hold", &wait, "    needs: [pull]\n"),
        task("use", "echo {{ tasks.pull.outputs.rows }}", "    needs: [hold]\n"),
    ];
    let text = document("graph", &format!("tasks:\n{}", tasks.concat()));
    let run = start(&editor, &text);
    super::help::until_task(&editor, &run, "hold", "running");
    let graph = editor.get(&format!("/runs/{run}/graph")).expect(200).json();
    let states: Vec<&Value> = graph["nodes"].as_array().unwrap().iter().map(|node| &node["state"]).collect();
    assert_eq!(states, ["succeeded", "running", "pending"]);
    let edges: Vec<String> = graph["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| format!("{} {} {}", edge["from"], edge["to"], edge["kind"]).replace('"', ""))
        .collect();
    assert_eq!(edges, ["pull hold need", "hold use need", "pull use data"]);
    let objects = |task: &str| editor.get(&format!("/runs/{run}/objects?task={task}")).expect(200).json();
    let before = objects("use");
    assert_eq!((&before["bound"], before.get("attempt")), (&json!(false), None));
    assert!(before.to_string().contains("<output rows of pull>"), "{before}");
    let hold = objects("hold");
    assert_eq!((&hold["bound"], &hold["attempt"]), (&json!(true), &json!(1)));
    std::fs::remove_file(&held).unwrap();
    until(&editor, &run, "succeeded");
    let after = objects("use");
    assert_eq!(after["object"]["workers"][0]["argv"], json!(["sh", "-c", "echo 7"]));
    let second = start(&editor, &text.replace("echo {{", "echo now {{"));
    until(&editor, &second, "succeeded");
    let history = editor.get(&format!("/runs/{second}/tasks/pull/history")).expect(200).json();
    let runs: Vec<&Value> = history["items"].as_array().unwrap().iter().map(|one| &one["run"]).collect();
    assert_eq!(runs, [&json!(second), &json!(run)]);
    let both = editor.get(&format!("/runs/{run}/compare?with={second}")).expect(200).json();
    let changed: Vec<(&Value, &Value)> =
        both["tasks"].as_array().unwrap().iter().map(|task| (&task["name"], &task["changed"])).collect();
    assert_eq!(changed[0], (&json!("pull"), &json!([])));
    assert_eq!(changed[2], (&json!("use"), &json!(["arguments"])));
    assert_eq!(both["tasks"][0]["outputs"][0], json!({"name": "rows", "left": 7, "right": 7, "same": true}));
    assert!(both["tasks"][0]["ratio"].is_number(), "{both}");
    editor.get(&format!("/runs/{run}/compare?with=01hzzzzzzzzzzzzzzzzzzzzzzz")).expect(404);
    editor.get(&format!("/runs/{run}/compare")).expect(422);
}
