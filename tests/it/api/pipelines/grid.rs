//! The runs of a pipeline by their tasks.

use std::fs;

use serde_json::{Value, json};

use super::{PIPELINES, editor};
use crate::api::runs::help::{document, id, task, until};
use crate::api::support::{Client, Who};
use crate::support::wait_for;

/// A pipeline whose task `train` fails with `fail=yes`, in two attempts. `first` is the name of its first task.
fn nightly(first: &str) -> String {
    let train = format!(
        "    needs: [{first}]\n    retry: {{attempts: 2, on: [error], backoff: {{initial: 10ms}}}}\n"
    );
    let tasks = [
        task(first, "true", ""),
        task("train", "test {{ params.fail }} = no", &train),
        task("report", "true", "    needs: [train]\n"),
    ];
    let parameters = "parameters:\n  fail: {type: string, default: 'no'}\n";
    document("nightly", &format!("{parameters}tasks:\n{}", tasks.concat()))
}

fn store(client: &Client, document: &str) {
    client.post(PIPELINES, &json!({"document": document})).expect(201);
}

/// Starts a run, and waits until it has ended in this state. Returns its id.
fn ended(client: &Client, body: &Value, state: &str) -> String {
    let run = id(&client.post("/projects/default/runs", body).expect(201).json()["run"]);
    until(client, &run, state);
    run
}

fn grid(client: &Client, pipeline: &str, query: &str) -> Value {
    client.get(&format!("{PIPELINES}/{pipeline}/grid{query}")).expect(200).json()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("no list `{key}` in {value}"))
}

/// The ids of the runs, in order.
fn runs(grid: &Value) -> Vec<String> {
    list(grid, "runs").iter().map(id).collect()
}

/// The cells of a task: run, state and attempts.
fn cells(grid: &Value, task: &str) -> Vec<(String, String, u64)> {
    let row = list(grid, "tasks").iter().find(|row| row["name"] == task);
    let row = row.unwrap_or_else(|| panic!("no task {task} in {grid}"));
    let runs = runs(grid);
    let cell = |cell: &Value| {
        let run = usize::try_from(cell["run"].as_u64().unwrap()).unwrap();
        let state = cell["state"].as_str().unwrap().to_owned();
        (runs[run].clone(), state, cell["attempts"].as_u64().unwrap())
    };
    list(row, "cells").iter().map(cell).collect()
}

/// Name, whether it was removed, and the number of failures, of each task.
fn rows(grid: &Value) -> Vec<(&str, bool, u64)> {
    let row = list(grid, "tasks").iter().map(|row| {
        let (removed, failures) = (row["removed"].as_bool(), row["failures"].as_u64());
        (row["name"].as_str().unwrap(), removed.unwrap(), failures.unwrap())
    });
    row.collect()
}

#[test]
fn runs_are_columns_tasks_are_rows_and_failures_are_counted() {
    let (server, editor) = editor();
    store(&editor, &nightly("old"));
    let first = ended(&editor, &json!({"pipeline": "nightly"}), "succeeded");
    editor.put(&format!("{PIPELINES}/nightly"), "*", &json!({"document": nightly("pull")})).expect(200);
    let failing = json!({"pipeline": "nightly", "parameters": {"fail": "yes"}});
    let second = ended(&editor, &failing, "failed");
    let third = ended(&editor, &json!({"pipeline": "nightly"}), "succeeded");
    let part = ended(&editor, &json!({"pipeline": "nightly", "tasks": {"only": "train"}}), "succeeded");

    let grid = grid(&server.as_(Who::Viewer), "nightly", "");
    let all = [&first, &second, &third, &part].map(Clone::clone);
    assert_eq!(runs(&grid), all, "the oldest run is first");
    assert_eq!(
        rows(&grid),
        [("pull", false, 0), ("train", false, 1), ("report", false, 0), ("old", true, 0)]
    );
    let of = |run: &str, state: &str, attempts: u64| (run.to_owned(), state.to_owned(), attempts);
    assert_eq!(cells(&grid, "old"), [of(&first, "succeeded", 1)]);
    assert_eq!(
        cells(&grid, "pull"),
        [of(&second, "succeeded", 1), of(&third, "succeeded", 1), of(&part, "reused", 0)]
    );
    assert_eq!(
        cells(&grid, "train"),
        [
            of(&first, "succeeded", 1),
            of(&second, "failed", 2),
            of(&third, "succeeded", 1),
            of(&part, "succeeded", 1),
        ]
    );
    assert_eq!(
        cells(&grid, "report"),
        [of(&first, "succeeded", 1), of(&second, "upstream_failed", 0), of(&third, "succeeded", 1)]
    );
    assert_eq!((&grid["truncated"], grid.get("next_cursor")), (&json!(false), None));

    let run = &grid["runs"][0];
    assert_eq!(
        (&run["state"], &run["version"], &run["trigger"]),
        (&json!("succeeded"), &json!(1), &json!("person"))
    );
    for key in ["created_at", "started_at", "duration_seconds", "queued_seconds"] {
        assert!(!run[key].is_null(), "{key}: {run}");
    }
    let page = server.as_(Who::Viewer).get("page:/projects/default/pipelines/nightly?tab=runs");
    let page = page.expect(200).text();
    assert!(page.contains("id=\"grid-data\"") && page.contains("Durations of 3 succeeded runs"), "{page}");
    let durations = &grid["durations"];
    assert_eq!(durations["succeeded"], 3, "{durations}");
    assert!(durations["median_seconds"].as_f64() <= durations["p90_seconds"].as_f64(), "{durations}");
    assert!(durations["median_seconds"].is_number(), "{durations}");
}

#[test]
fn a_cell_says_the_same_as_the_page_of_the_run() {
    let (_server, editor) = editor();
    let each = task("each", "exit {{ 1 if item == 2 else 0 }}", "    for_each: {list: [1, 2, 3]}\n");
    let none = task("none", "true", "    for_each: {list: []}\n");
    let after = task("after", "true", "    needs: [each]\n");
    store(&editor, &document("fanned", &format!("tasks:\n{each}{none}{after}")));
    let run = ended(&editor, &json!({"pipeline": "fanned"}), "failed");
    let tasks = editor.get(&format!("/runs/{run}/tasks")).expect(200).json();
    let grid = grid(&editor, "fanned", "");
    for (row, task) in list(&grid, "tasks").iter().zip(list(&tasks, "items")) {
        assert_eq!(row["name"], task["name"]);
        let cell = &row["cells"][0];
        for key in ["state", "attempts", "run_seconds"] {
            assert_eq!(cell.get(key), task.get(key), "{key} of {}", task["name"]);
        }
    }
    let each = &grid["tasks"][0];
    assert_eq!((&each["failures"], &each["cells"][0]["instances"]), (&json!(1), &json!(3)), "{each}");
    assert_eq!(grid["durations"], json!({"succeeded": 0}), "failed runs do not count");
}

#[test]
fn a_grid_follows_a_run_that_goes_on_and_one_that_is_resumed() {
    let (server, editor) = editor();
    let file = server.path("file");
    let held = server.path("held");
    fs::write(&held, "").unwrap();
    let wait = format!("while [ -e {} ]; do sleep 0.1; done", held.display());
    let tasks =
        [task("hold", &wait, ""), task("read", &format!("cat {}", file.display()), "    needs: [hold]\n")];
    store(&editor, &document("held", &format!("tasks:\n{}", tasks.concat())));
    let run =
        id(&editor.post("/projects/default/runs", &json!({"pipeline": "held"})).expect(201).json()["run"]);
    let shows = |state: &str, hold: (&str, u64), read: (&str, u64)| {
        wait_for(&format!("the grid to show {state}, {hold:?} and {read:?}"), || {
            let grid = grid(&editor, "held", "");
            let of = |task: &str, (state, attempts): (&str, u64)| {
                cells(&grid, task) == [(run.clone(), state.to_owned(), attempts)]
            };
            grid["runs"][0]["state"] == state && of("hold", hold) && of("read", read)
        });
    };
    shows("running", ("running", 1), ("pending", 0));
    let live = grid(&editor, "held", "");
    assert_eq!(live["runs"][0].get("duration_seconds"), None, "{live}");
    assert_eq!(live["tasks"][0]["cells"][0].get("run_seconds"), None, "{live}");
    fs::remove_file(&held).unwrap();
    shows("failed", ("succeeded", 1), ("failed", 1));
    fs::write(&file, "").unwrap();
    editor.post(&format!("/runs/{run}/resume"), &json!({})).expect(202);
    shows("succeeded", ("succeeded", 1), ("succeeded", 2));
    assert_eq!(grid(&editor, "held", "")["tasks"][1]["failures"], 0);
}

#[test]
fn older_runs_come_on_the_next_page() {
    let (server, editor) = editor();
    store(&editor, &document("quick", &format!("tasks:\n{}", task("a", "true", ""))));
    let empty = grid(&editor, "quick", "");
    assert_eq!((&empty["runs"], &empty["tasks"][0]["cells"]), (&json!([]), &json!([])));
    let all: Vec<String> =
        (0..5).map(|_| ended(&editor, &json!({"pipeline": "quick"}), "succeeded")).collect();
    let newest = grid(&editor, "quick", "?limit=2");
    assert_eq!(runs(&newest), all[3..]);
    let next = newest["next_cursor"].as_str().unwrap();
    let older = grid(&editor, "quick", &format!("?limit=2&cursor={next}"));
    assert_eq!(runs(&older), all[1..3]);
    let next = older["next_cursor"].as_str().unwrap();
    let oldest = grid(&editor, "quick", &format!("?limit=2&cursor={next}"));
    assert_eq!((runs(&oldest), oldest.get("next_cursor")), (all[..1].to_vec(), None));

    let path = format!("{PIPELINES}/quick/grid");
    for (query, field) in [("limit=0", "/limit"), ("limit=101", "/limit"), ("cursor=bm9wZQ", "/cursor")] {
        let refused = editor.get(&format!("{path}?{query}")).expect(422).problem("invalid");
        assert_eq!(refused["problems"][0]["path"], field, "{refused}");
    }
    editor.get(&format!("{PIPELINES}/none/grid")).expect(404).problem("not-found");
    server.as_(Who::Reader).get(&path).expect(200);
    server.as_(Who::Stranger).get(&path).expect(404).problem("not-found");
    server.as_(Who::Anonymous).get(&path).expect(401);
}

#[test]
fn a_run_that_a_task_has_started_is_one_of_its_pipeline() {
    let (_server, editor) = editor();
    store(&editor, &document("inner", &format!("tasks:\n{}", task("work", "true", ""))));
    let call = "tasks:\n  - name: call\n    template: pipeline\n    arguments: {pipeline: inner}\n";
    store(&editor, &document("outer", call));
    ended(&editor, &json!({"pipeline": "outer"}), "succeeded");
    let inner = grid(&editor, "inner", "");
    assert_eq!((runs(&inner).len(), &inner["runs"][0]["trigger"]), (1, &json!("task")), "{inner}");
    let outer = grid(&editor, "outer", "");
    assert_eq!(rows(&outer), [("call", false, 0)]);
    assert_eq!((&outer["runs"][0]["trigger"], cells(&outer, "call")[0].2), (&json!("person"), 1));
}
