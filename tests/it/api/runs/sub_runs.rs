//! Tasks that run another pipeline: inputs, outputs, ends and refusals.

use serde_json::{Value, json};

use super::help::{document, id, of_task, start, task, until, until_task};
use crate::api::support::{Client, Server, Who};
use crate::support::wait_for;

const PIPELINES: &str = "/projects/default/pipelines";

#[track_caller]
fn store(client: &Client, document: &str) {
    client.post(PIPELINES, &json!({"document": document})).expect(201);
}

/// A pipeline that squares a number; `line` is the shell command of each task.
fn square(line: &str) -> String {
    let square = task("square", line, "");
    document("square", &format!("parameters:\n  n: {{type: integer, minimum: 0}}\ntasks:\n{square}"))
}

const SQUARE: &str =
    "echo '{\"output\": {\"area\": '$(({{ params.n }} * {{ params.n }}))'}}' > $CUBELOOM_OUTPUTS";

/// A pipeline with one task that runs another pipeline; `rest` belongs to the task.
fn calling(arguments: &str, rest: &str) -> String {
    document(
        "calling",
        &format!("tasks:\n  - name: call\n    template: pipeline\n    arguments: {{{arguments}}}\n{rest}"),
    )
}

/// The attempts of the task that runs another pipeline.
fn attempts(client: &Client, run: &str) -> Vec<Value> {
    let path = format!("/runs/{run}/tasks/call/instances/0/attempts");
    client.get(&path).expect(200).json()["items"].as_array().unwrap().clone()
}

/// The child run of the last attempt, once it exists.
fn child(client: &Client, run: &str) -> String {
    let last = || attempts(client, run).last().and_then(|last| last["run"].as_str().map(str::to_owned));
    wait_for("the other pipeline's run", || {
        last().is_some_and(|child| client.get(&format!("/runs/{child}")).status == 200)
    });
    last().unwrap()
}

#[test]
fn a_pipeline_runs_another_with_parameters_and_reads_what_its_tasks_reported() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    store(&editor, &square(SQUARE));
    let tell = task("tell", "test {{ tasks.call.outputs.tasks.square.area }} = 49", "    needs: [call]\n");
    let run = start(&editor, &format!("{}{tell}", calling("pipeline: square, parameters: {n: 7}", "")));
    let ended = until(&editor, &run, "succeeded");
    assert_eq!(ended.get("parent"), None);
    let called = of_task(&editor, &run, "call");
    let child = attempts(&editor, &run)[0]["run"].clone();
    assert_eq!(called["outputs"], json!({"run": child, "tasks": {"square": {"area": 49}}}));
    let child = editor.get(&format!("/runs/{}", child.as_str().unwrap())).expect(200).json();
    assert_eq!(child["parent"], json!({"run": run, "task": "call", "instance": 0, "attempt": 1}));
    assert_eq!((&child["user"], &child["version"]), (&json!("emil"), &json!(1)));
    assert_eq!(child["parameters"], json!({"n": 7}));
    let log = server.as_(Who::Owner).get("/projects/default/audit").expect(200).text();
    assert!(log.contains(&format!("run {run}")), "{log}");
}

#[test]
fn each_element_has_a_run_and_what_an_earlier_task_reported_can_be_its_parameter() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    store(&editor, &square(SQUARE));
    let measure = task("measure", r#"echo '{"output": {"sides": [2, 3, 4]}}' > $CUBELOOM_OUTPUTS"#, "");
    let call = "  - name: call\n    template: pipeline\n    needs: [measure]\n    \
                for_each: {from: '{{ tasks.measure.outputs.sides }}', parallelism: 2}\n    \
                arguments: {pipeline: square, parameters: {n: '{{ item }}'}}\n";
    let sum = task(
        "sum",
        "test '{{ tasks.call.outputs.tasks[0].square.area }} {{ tasks.call.outputs.tasks[2].square.area }}' = '4 16'",
        "    needs: [call]\n",
    );
    let run = start(&editor, &document("calling", &format!("tasks:\n{measure}{call}{sum}")));
    until(&editor, &run, "succeeded");
    let instances = editor.get(&format!("/runs/{run}/tasks/call/instances")).expect(200).json();
    let areas: Vec<&Value> = instances["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["outputs"]["tasks"]["square"]["area"])
        .collect();
    assert_eq!(areas, [4, 9, 16]);

    let listed = |query: &str| -> Vec<String> {
        let page = editor.get(&format!("/projects/default/runs?{query}")).expect(200).json();
        page["items"].as_array().unwrap().iter().map(id).collect()
    };
    assert_eq!((listed("").len(), listed("parent=none")), (4, vec![run.clone()]));
    let children = listed(&format!("parent={run}"));
    assert!(children.len() == 3 && !children.contains(&run), "{children:?}");
    assert_eq!(listed(&format!("parent={}", children[0])), Vec::<String>::new());
    let wrong = editor.get("/projects/default/runs?parent=me").expect(422);
    assert_eq!(wrong.problem("invalid")["problems"][0]["path"], "/parent");
    let page = editor.get(&format!("page:/projects/default/runs?parent={run}")).expect(200).text();
    assert!(page.matches("class=\"runs-parent\"").count() == 3 && page.contains("Started by run"), "{page}");
}

#[test]
fn it_fails_with_the_other_run_and_says_what_failed_there_and_a_retry_is_a_new_run() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    store(&editor, &square("echo no such number >&2; exit 3"));
    let retried = calling(
        "pipeline: square, parameters: {n: 7}",
        "    retry: {attempts: 2, on: [error], backoff: {initial: 10ms}}\n",
    );
    let run = start(&editor, &retried);
    until(&editor, &run, "failed");
    let attempts = attempts(&editor, &run);
    assert_eq!(attempts.len(), 2);
    assert_ne!(attempts[0]["run"], attempts[1]["run"]);
    let failure = of_task(&editor, &run, "call")["failure"].clone();
    assert_eq!(failure["kind"], "run");
    let child = attempts[1]["run"].as_str().unwrap();
    let begins = format!("in the run {child} of `square`, the task `square` failed: ");
    assert!(failure["message"].as_str().unwrap().starts_with(&begins), "{failure}");
    assert_eq!(failure["last_lines"], json!(["no such number"]));

    // The child's document is fixed, and the run resumes with its newest version.
    let mended = square(SQUARE);
    let etag = editor.get(&format!("{PIPELINES}/square")).expect(200).etag();
    editor.put(&format!("{PIPELINES}/square"), &etag, &json!({"document": mended})).expect(200);
    editor.post(&format!("/runs/{run}/resume"), &json!({})).expect(202);
    until(&editor, &run, "succeeded");
    let last = self::attempts(&editor, &run).pop().unwrap();
    assert_eq!(last["attempt"], 3);
    let child = editor.get(&format!("/runs/{}", last["run"].as_str().unwrap())).expect(200).json();
    assert_eq!(child["version"], 2);
    let pinned = start(&editor, &calling("pipeline: square, version: 1, parameters: {n: 7}", ""));
    until(&editor, &pinned, "failed");
}

#[test]
fn it_is_stopped_with_the_run_that_started_it_and_by_its_time_and_by_a_person() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    store(&editor, &square("sleep 600"));
    let run = start(&editor, &calling("pipeline: square, parameters: {n: 7}", ""));
    let its = child(&editor, &run);
    until_task(&editor, &its, "square", "running");
    assert_eq!(of_task(&editor, &run, "call")["state"], "running");
    editor.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    until(&editor, &its, "cancelled");
    until(&editor, &run, "cancelled");

    let limited = start(&editor, &calling("pipeline: square, parameters: {n: 7}", "    timeout: 1s\n"));
    until(&editor, &limited, "failed");
    assert_eq!(
        of_task(&editor, &limited, "call")["failure"]["message"],
        "it ran longer than its timeout of 1s"
    );
    until(&editor, &child(&editor, &limited), "cancelled");

    let left = start(&editor, &calling("pipeline: square, parameters: {n: 7}", ""));
    let its = child(&editor, &left);
    editor.post(&format!("/runs/{its}/cancel"), &json!({})).expect(202);
    until(&editor, &left, "failed");
    let message = of_task(&editor, &left, "call")["failure"]["message"].clone();
    assert_eq!(message, format!("the run {its} of `square` was cancelled"));
}

#[test]
fn a_server_that_is_killed_goes_on_with_both_and_starts_no_second_one() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    store(&editor, &square(&format!("sleep 3; {SQUARE}")));
    let run = start(&editor, &calling("pipeline: square, parameters: {n: 7}", ""));
    let its = child(&editor, &run);
    until_task(&editor, &its, "square", "running");
    server.kill();
    server.run();
    let editor = server.as_(Who::Editor);
    until(&editor, &run, "succeeded");
    assert_eq!(attempts(&editor, &run).len(), 1);
    let runs = editor.get("/projects/default/runs?pipeline=square").expect(200).json();
    let runs: Vec<String> = runs["items"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(runs, [its]);
}

/// The path and message of a refused document's first problem.
#[track_caller]
fn refused(client: &Client, document: &str) -> (String, String) {
    let answer = client.post("/projects/default/runs", &json!({"document": document})).expect(422);
    let first = answer.problem("invalid")["problems"][0].clone();
    (first["path"].as_str().unwrap().into(), first["message"].as_str().unwrap().into())
}

#[test]
fn what_cannot_be_run_is_told_before_anything_starts_with_the_argument_that_is_wrong() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    store(&editor, &square(SQUARE));
    store(&editor, &calling("pipeline: square, parameters: {n: 1}", ""));
    store(
        &editor,
        &document("ring", "tasks:\n  - {name: call, template: pipeline, arguments: {pipeline: calling}}\n"),
    );
    let asks = task("ask", "true", "    secrets: [nobody-has-it]\n");
    editor.post(PIPELINES, &json!({"document": document("lacking", &format!("tasks:\n{asks}"))})).expect(201);
    for (arguments, place, said) in [
        ("pipeline: cube", "/pipeline", "there is no pipeline `cube` here"),
        ("pipeline: square, version: 4, parameters: {n: 1}", "/version", "has versions 1 to 1, not 4"),
        ("pipeline: square", "/parameters", "n"),
        ("pipeline: square, parameters: {n: -1}", "/parameters/n", "0"),
        ("pipeline: square, parameters: {n: 1, m: 2}", "/parameters", "no parameter `m`"),
        ("pipeline: lacking", "/pipeline", "this pipeline cannot run: /tasks/0/secrets/0: "),
        ("pipeline: calling", "/pipeline", "endlessly: `calling` runs `calling`"),
        ("pipeline: ring", "/pipeline", "endlessly: `calling` runs `ring` runs `calling`"),
        ("file: steps/none.yaml", "/file", "no code folder"),
        ("pipeline: square, file: a.yaml, parameters: {n: 1}", "", ""),
    ] {
        let (path, message) = refused(&editor, &calling(arguments, ""));
        assert!(path.ends_with(&format!("/tasks/0/arguments{place}")), "{arguments}: {path}: {message}");
        assert!(message.contains(said), "{arguments}: {message}");
    }
    let (path, message) = refused(
        &editor,
        &calling(
            "pipeline: square, parameters: {n: 1}",
            "    search: {over: {a: {list: [1]}}, of: x, trials: 1}\n",
        ),
    );
    assert!(path.starts_with("/tasks/0/search"), "{path}: {message}");
    assert_eq!(editor.get("/projects/default/runs").expect(200).json()["items"], json!([]));
}

#[test]
fn what_is_known_only_later_fails_the_task_with_a_sentence() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    store(&editor, &square(SQUARE));
    let choose =
        task("choose", r#"echo '{"output": {"name": "calling", "n": "many"}}' > $CUBELOOM_OUTPUTS"#, "");
    let after = |arguments: &str| {
        format!(
            "tasks:\n{choose}  - name: call\n    template: pipeline\n    needs: [choose]\n    arguments: {{{arguments}}}\n"
        )
    };
    let said = |arguments: &str| {
        let run = start(&editor, &document("calling", &after(arguments)));
        until(&editor, &run, "failed");
        let failure = of_task(&editor, &run, "call")["failure"].clone();
        assert_eq!(failure["kind"], "could_not_start");
        failure["message"].as_str().unwrap().to_owned()
    };
    let wrong = said("pipeline: square, parameters: {n: '{{ tasks.choose.outputs.n }}'}");
    assert!(wrong.starts_with("`square` cannot run: ") && wrong.contains("many"), "{wrong}");
    let missing = said("pipeline: '{{ tasks.choose.outputs.n }}'");
    assert_eq!(missing, "`many` cannot run: there is no pipeline `many` here");
    store(&editor, &document("calling", &after("pipeline: '{{ tasks.choose.outputs.name }}'")));
    let endless = said("pipeline: '{{ tasks.choose.outputs.name }}'");
    assert!(endless.contains("endlessly"), "{endless}");
}
