//! Searches: trials in the API and on pages, during the search and afterwards.

use serde_json::{Value, json};

use super::help::{document, start, task, until, until_task};
use super::pages::page;
use crate::api::support::{Client, Server, Who};

/// A task that tries two values in turn and reports them as `score`, then runs `then`.
fn tries(then: &str, rest: &str) -> String {
    let line = format!(
        r#"echo '{{"metric": {{"name": "score", "value": {{{{ item.x }}}}, "step": 1}}}}' >> $CUBELOOM_OUTPUTS; {then}"#
    );
    let search = format!(
        "    search: {{over: {{x: [0.9, 0.1]}}, maximize: score, method: grid, parallelism: 1{rest}}}\n"
    );
    task("tune", &line, &search)
}

fn search(client: &Client, run: &str) -> Value {
    client.get(&format!("/runs/{run}/tasks/tune/search")).expect(200).json()
}

#[test]
fn trials_and_the_best_of_them_are_told() {
    let server = Server::start();
    let (editor, viewer) = (server.as_(Who::Editor), server.as_(Who::Viewer));
    let after = task("after", "test {{ tasks.tune.outputs.best.parameters.x }} = 0.9", "    needs: [tune]\n");
    let tasks = [tries("true", ""), after].concat();
    let run = start(&editor, &document("tuned", &format!("tasks:\n{tasks}")));
    until(&editor, &run, "succeeded");
    let told = search(&viewer, &run);
    assert_eq!(
        (&told["goal"], &told["of"], &told["method"], &told["planned"]),
        (&json!("maximize"), &json!("score"), &json!("grid"), &json!(2))
    );
    assert_eq!(told["over"], json!([{"name": "x", "values": [0.9, 0.1], "log": false}]));
    let trial = |instance: u32, x: f64| json!({"instance": instance, "state": "succeeded", "parameters": {"x": x}, "value": x});
    assert_eq!(told["trials"], json!([trial(0, 0.9), trial(1, 0.1)]));
    assert_eq!(told["best"], told["trials"][0]);
    let missing = viewer.get(&format!("/runs/{run}/tasks/after/search")).expect(404).problem("not-found");
    assert!(missing["detail"].as_str().unwrap().contains("search"), "{missing}");
    viewer.get(&format!("/runs/{run}/tasks/nothing/search")).expect(404);
    server.as_(Who::Stranger).get(&format!("/runs/{run}/tasks/tune/search")).expect(404);

    let html = page(&viewer, &format!("/runs/{run}/tasks/tune"));
    assert!(html.contains("search-best") && html.contains("parallel-trial"), "the trials are drawn");
    assert!(!page(&viewer, &format!("/runs/{run}/tasks/after")).contains("parallel-trial"));
}

#[test]
fn a_trial_may_be_a_gang() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    // The first worker reports once the other one has written, so neither result comes alone.
    let line = r#"mkdir -p $CUBELOOM_RUN_DIR/{{ item.x }}; cd $CUBELOOM_RUN_DIR/{{ item.x }}; touch worker-$CUBELOOM_INDEX
          until test -e worker-0 -a -e worker-1; do sleep 0.1; done
          test $CUBELOOM_INDEX = 1 || echo '{"metric": {"name": "score", "value": {{ item.x }}, "step": 1}}' >> $CUBELOOM_OUTPUTS"#;
    let tasks = format!(
        "tasks:\n  - name: tune\n    template: indexed\n    search: {{over: {{x: [2, 5]}}, maximize: score, method: grid, parallelism: 1}}\n    \
         arguments:\n      workers: 2\n      command:\n        - sh\n        - -ec\n        - |\n          {line}\n"
    );
    let run = start(&editor, &document("gangs", &tasks));
    until(&editor, &run, "succeeded");
    let told = search(&editor, &run);
    assert_eq!(
        (&told["best"]["parameters"]["x"], &told["best"]["value"]),
        (&json!(5), &json!(5.0)),
        "{told}"
    );
}

#[test]
fn a_trial_that_falls_behind_is_stopped_and_says_why() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    // The better trial ends by itself; the other one would run longer than the test.
    let tasks = tries("test {{ item.x }} = 0.9 || sleep 600", ", early_stop: {min_steps: 1, factor: 2}");
    let run = start(&editor, &document("behind", &format!("tasks:\n{tasks}")));
    until(&editor, &run, "succeeded");
    let told = search(&editor, &run);
    assert_eq!(told["trials"][1]["state"], "stopped_early", "{told}");
    assert_eq!((&told["trials"][1]["value"], &told["best"]["instance"]), (&json!(0.1), &json!(0)));
    let stopped = editor.get(&format!("/runs/{run}/tasks/tune/instances")).expect(200).text();
    assert!(stopped.contains("at step 1 its `score` was 0.1; 1 of 2 trials were better"), "{stopped}");
    let html = page(&editor, &format!("/runs/{run}/tasks/tune?instance=1"));
    assert!(html.contains("trials were better"), "the page says so, too");
}

#[test]
fn a_search_whose_trials_fail_fails() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let tasks = tries("test {{ item.x }} = 0.1", ", max_failures: 0");
    let run = start(&editor, &document("failing", &format!("tasks:\n{tasks}")));
    until(&editor, &run, "failed");
    let told = search(&editor, &run);
    assert_eq!(told["trials"].as_array().unwrap().len(), 2, "{told}");
    assert_eq!(
        (&told["trials"][0]["state"], &told["trials"][1]["state"]),
        (&json!("failed"), &json!("cancelled"))
    );
    assert_eq!(told["best"], Value::Null, "a trial that failed is not the best, whatever it reported");
    until_task(&editor, &run, "tune", "failed");
}
