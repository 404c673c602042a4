//! The shipped examples of each template, and `hello`.

use std::fs;

use super::rig::{app, folder, run, shipped};
use crate::support::{TestApp, outputs, states};
use serde_json::Value;

fn example(app: &TestApp, template: &str) -> Value {
    let run = run(app, 0, &shipped(&format!("task-templates/{template}/example.yaml")), &[]);
    assert!(states(&run).iter().all(|(_, state)| *state == "succeeded"), "{run}");
    run
}

#[test]
fn the_example_of_command() {
    let app = app();
    example(&app, "command");
    let listed = app.expect(0, &["logs", "latest", "list", "--worker", "worker-0", "--stdout"]).out;
    assert!(listed.lines().any(|line| line.ends_with(" now")), "{listed}");
}

#[test]
fn the_example_of_python() {
    let app = app();
    let run = example(&app, "python");
    let scaled = outputs(&run, "scale");
    assert_eq!((&scaled["rows"], &scaled["low"], &scaled["high"]), (&100.into(), &1.0.into(), &10.0.into()));
}

#[test]
fn the_example_of_indexed() {
    let app = app();
    let run = example(&app, "indexed");
    let sum = outputs(&run, "sum");
    assert_eq!(sum["workers"], 3);
    let files = fs::read_dir(shipped("task-templates/indexed")).unwrap().flatten();
    let files = files.filter(|entry| entry.file_type().unwrap().is_file());
    let texts = files.map(|entry| fs::read_to_string(entry.path()).unwrap());
    assert_eq!(sum["words"], texts.map(|text| text.split_whitespace().count()).sum::<usize>());
    let shards = outputs(&run, "shards");
    assert_eq!((&shards["words"], &shards["shards"]), (&sum["words"], &5.into()));
}

#[test]
fn the_example_of_mpi() {
    let app = app();
    let run = example(&app, "mpi");
    let sum = outputs(&run, "sum");
    assert_eq!((&sum["sum"], &sum["ranks"]), (&3.into(), &3.into()));
    assert_eq!(sum["places"].as_array().unwrap().len(), 3);
}

#[test]
fn the_example_of_xgboost() {
    let app = app();
    let run = example(&app, "xgboost");
    assert_eq!(outputs(&run, "train")["rows"], 2_000);
    assert!(folder(&run).join("model.json").exists());
}

#[test]
fn the_example_of_transfer() {
    let app = app();
    let run = example(&app, "transfer");
    assert_eq!(outputs(&run, "pull")["files"], 2);
    let picked = |folder: &std::path::Path| fs::read(folder.join("picked/tuesday.csv")).unwrap();
    let original = fs::read(shipped("task-templates/transfer/example/tuesday.csv")).unwrap();
    assert_eq!(picked(&folder(&run)), original);
}

#[test]
fn the_example_of_sql() {
    let app = app();
    let run = example(&app, "sql");
    assert_eq!(outputs(&run, "orders")["rows"], 1_000_000);
    let days = fs::read_to_string(folder(&run).join("days.csv")).unwrap();
    assert_eq!(days.lines().count(), 32, "{days}");
    let orders = days.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse::<u64>().unwrap());
    assert_eq!(orders.sum::<u64>(), 1_000_000);
    let told = app.expect(0, &["logs", "latest", "tell", "--stdout"]).out;
    assert!(told.contains(&format!(
        "{} was the best of 31 days",
        outputs(&run, "days")["first"]["day"].as_str().unwrap()
    )));
}

#[test]
fn the_example_of_http() {
    let app = app();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let file = shipped("task-templates/http/example.yaml");
    let run = run(&app, 0, &file, &["-p", &format!("port={free}")]);
    assert_eq!(outputs(&run, "ask")["body"]["sold"], 42);
    assert!(app.expect(0, &["logs", "latest", "tell", "--stdout"]).out.contains("42 sold"));
}

#[test]
fn the_example_hello() {
    let app = app();
    let run = run(&app, 0, &shipped("examples/hello/pipeline.yaml"), &[]);
    assert_eq!(states(&run), [("greet", "succeeded"), ("repeat", "succeeded")]);
}

#[test]
fn the_example_of_a_search() {
    let app = app();
    let run = run(&app, 0, &shipped("examples/search/pipeline.yaml"), &["-p", "rows=2000"]);
    let states = states(&run);
    assert!(states.iter().any(|(task, state)| *task == "final" && *state == "succeeded"), "{run}");
    // The most frequent class alone gives 59 % accuracy, and no line through the plane is much better.
    let accuracy = outputs(&run, "final")["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.65, "{accuracy}");
    assert!(folder(&run).join("model.json").exists());
    let tune = run["tasks"].as_array().unwrap().iter().find(|task| task["name"] == "tune").unwrap();
    assert_eq!(tune["best"]["parameters"]["features"], "squares", "{}", tune["best"]);
    assert!(app.expect(0, &["runs", "show", "latest"]).out.contains("tune.best"), "a person is told, too");
}
