//! Comparison of two runs and of two versions: inputs, execution and results.

use serde_json::{Value, json};

use super::help::{document, id, start, task, until};
use super::pages::page;
use crate::api::support::{Client, Server, Who};

#[test]
fn two_runs_are_compared() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let of = |value: &str| {
        let line = format!(r#"echo '{{"output": {{"auc": {value}}}}}' >> "$CUBELOOM_OUTPUTS""#);
        let run = start(&editor, &document("judged", &format!("tasks:\n{}", task("judge", &line, ""))));
        until(&editor, &run, "succeeded");
        run
    };
    let (first, second) = (of("0.91"), of("0.93"));
    // The default is the previous run.
    for path in [format!("/runs/{second}/compare"), format!("/runs/{second}/compare?with={first}")] {
        let text = page(&editor, &path);
        for word in ["0.91", "0.93", "judge", &first, &second] {
            assert!(text.contains(word), "{path} does not show {word}: {text}");
        }
    }
    assert!(page(&editor, &format!("/runs/{second}")).contains(&format!("compare?with={first}")));
}

#[test]
fn what_two_runs_asked_for_stands_beside_each_other_and_what_differs_is_marked() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = |cpu: &str, rest: &str| {
        let asks = |name: &str, cpu: &str| {
            format!(
                "  - {{name: {name}, template: command, arguments: {{command: ['true']}}, \
                 resources: {{cpu: {cpu}, memory: 64Mi}}}}\n"
            )
        };
        let tasks = format!("tasks:\n{}{}{rest}", asks("same", "100m"), asks("more", cpu));
        let run = start(&editor, &document("asking", &tasks));
        until(&editor, &run, "succeeded");
        run
    };
    let only = "  - {name: only, template: command, arguments: {command: ['true']}, \
                resources: {cpu: 300m, memory: 32Mi}}\n";
    let (first, second) = (run("100m", ""), run("1500m", only));
    let text = page(&editor, &format!("/runs/{second}/compare?with={first}"));
    let (_, table) = text.split_once("compare-asked\"").unwrap_or_else(|| panic!("{text}"));
    let rows: Vec<&str> = table.split_once("</table>").unwrap().0.split("<tr").skip(2).collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert!(
        rows[0].contains(">same<") && !rows[0].contains("differs") && rows[0].contains("64 MiB"),
        "{}",
        rows[0]
    );
    assert!(rows[0].contains(">0.1<") && !rows[0].contains("<mark>"), "{}", rows[0]);
    assert!(rows[1].contains(">more<") && rows[1].contains("class=\"differs\""), "{}", rows[1]);
    assert!(rows[1].contains("<mark>1.5</mark>") && rows[1].contains("<mark>0.1</mark>"), "{}", rows[1]);
    assert_eq!(rows[1].matches("<mark>").count(), 2, "the memory is the same: {}", rows[1]);
    assert!(
        rows[2].contains(">only<") && rows[2].contains("<mark>0.3</mark>") && rows[2].contains('–'),
        "{}",
        rows[2]
    );
}

/// A line that reports a metric over three steps, ending with this value.
fn reports(value: f64) -> String {
    let steps = [(0, 0.1), (1, 0.2), (2, value)];
    let lines = steps
        .map(|(step, value)| json!({"metric": {"name": "loss", "value": value, "step": step}}).to_string());
    format!("printf '%s\\n' '{}' >> \"$CUBELOOM_OUTPUTS\"", lines.join("' '"))
}

/// A pipeline of one task that reports a metric; `least` is its parameter's default, `cpu` its request.
fn measured(value: f64, least: u32, cpu: &str) -> String {
    let task = task("learn", &reports(value), "").replace("100m", cpu);
    document(
        "measured",
        &format!("parameters:\n  least: {{type: integer, default: {least}}}\ntasks:\n{task}"),
    )
}

fn run_of(editor: &Client, version: u32) -> String {
    let asked = json!({"pipeline": "measured", "version": version});
    let run = id(&editor.post("/projects/default/runs", &asked).expect(201).json()["run"]);
    until(editor, &run, "succeeded");
    run
}

/// Two versions of one pipeline, both without runs.
fn two_versions(editor: &Client) {
    let pipelines = "/projects/default/pipelines";
    editor.post(pipelines, &json!({"document": measured(0.91, 7, "100m")})).expect(201);
    let changed = json!({"document": measured(0.93, 8, "1500m")});
    editor.put(&format!("{pipelines}/measured"), "\"1\"", &changed).expect(200);
}

const VERSIONS: &str = "/projects/default/pipelines/measured/compare?from=1&to=2";

#[test]
fn two_versions_are_compared_by_what_their_newest_runs_did() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    two_versions(&editor);
    let older = run_of(&editor, 1);
    let (first, second) = (run_of(&editor, 1), run_of(&editor, 2));
    let both = editor.get(VERSIONS).expect(200).json();
    assert_eq!((&both["from_run"]["id"], &both["to_run"]["id"]), (&json!(first), &json!(second)));
    let text = page(&editor, VERSIONS);
    for part in [&first, &second, &format!("/runs/{second}/compare?with={first}")] {
        assert!(text.contains(part.as_str()), "{part} is not there: {text}");
    }
    assert!(!text.contains(&older), "it is not the newest of its version");
    // The new version comes first, as in the comparison of two runs.
    let cells = |table: &str| -> Vec<String> {
        let (_, rest) = text.split_once(table).unwrap_or_else(|| panic!("no {table}: {text}"));
        let tags = regex::Regex::new("<[^>]*>").unwrap();
        let plain = tags.replace_all(rest.split_once("</table>").unwrap().0, "\n").into_owned();
        plain.lines().map(str::trim).filter(|line| !line.is_empty()).skip(1).map(str::to_owned).collect()
    };
    let holds = |cells: &[String], wanted: &[&str]| {
        assert!(cells.windows(wanted.len()).any(|window| window == wanted), "no {wanted:?} in {cells:?}");
    };
    holds(&cells("compare-runs"), &["Version 2", "Version 1"]);
    holds(&cells("compare-parameters"), &["least", "8", "7", "differs"]);
    holds(&cells("compare-asked"), &["1.5", "0.1"]);
    holds(&cells("compare-tasks"), &["learn", "Succeeded", "Succeeded"]);
    assert_eq!(cells("compare-tasks").iter().filter(|cell| cell.ends_with(" s")).count(), 2, "times of both");
    holds(&cells("compare-metrics"), &["loss", "learn", "0.93", "0.91", "+0.02"]);
    assert!(text.contains(&format!("data-left=\"{second}\"")), "the metrics' course is drawn: {text}");
}

#[test]
fn of_a_version_that_has_not_run_the_page_says_what_to_do() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    two_versions(&editor);
    run_of(&editor, 1);
    let both = editor.get(VERSIONS).expect(200).json();
    assert!(both["from_run"].is_object() && both.get("to_run").is_none(), "{both}");
    let text = page(&editor, VERSIONS);
    assert!(text.contains("Version 2 has no finished run yet"), "{text}");
    assert!(text.contains("/projects/default/pipelines/measured?version=2"), "{text}");
    assert!(!text.contains("Version 1 has no") && !text.contains("compare-tasks"), "{text}");
}

#[test]
fn the_last_values_of_metrics_are_compared() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    two_versions(&editor);
    let (first, second) = (run_of(&editor, 1), run_of(&editor, 2));
    let path = format!("/runs/{second}/compare?with={first}");
    let both = editor.get(&path).expect(200).json();
    let metrics = both["metrics"].as_array().unwrap();
    assert_eq!(metrics.len(), 1, "{both}");
    let loss = &metrics[0];
    assert_eq!((&loss["name"], &loss["task"]), (&json!("loss"), &json!("learn")));
    let told = |side: &Value| (side["last"].clone(), side["count"].clone(), side["points"].clone());
    assert_eq!(told(&loss["left"]), (json!(0.93), json!(3), json!([[0.0, 0.1], [1.0, 0.2], [2.0, 0.93]])));
    assert_eq!(told(&loss["right"]), (json!(0.91), json!(3), json!([[0.0, 0.1], [1.0, 0.2], [2.0, 0.91]])));
    let text = page(&editor, &path);
    let (_, table) = text.split_once("compare-metrics").unwrap_or_else(|| panic!("{text}"));
    let (table, _) = table.split_once("</table>").unwrap();
    for part in ["loss", "learn", ">0.93<", ">0.91<", ">+0.02<"] {
        assert!(table.contains(part), "{part}: {table}");
    }
}

#[test]
fn several_runs_are_compared_in_one_table() {
    let server = Server::start();
    let (editor, viewer) = (server.as_(Who::Editor), server.as_(Who::Viewer));
    let started = |value: f64, least: u32| {
        let judge =
            task("judge", r#"echo '{"output": {"auc": 0.5, "path": "/a"}}' >> "$CUBELOOM_OUTPUTS""#, "");
        let each = task("each", &reports(7.0), "    for_each: {list: [1, 2]}\n");
        let run = start(&editor, &format!("{}{judge}{each}", measured(value, least, "100m")));
        until(&editor, &run, "succeeded");
        run
    };
    let runs = [started(0.91, 7), started(0.93, 7), started(0.95, 8)];
    let path = format!("/projects/default/runs/compare?runs={}", runs.join(","));
    let found = viewer.get(&path).expect(200).json();
    let found = found["runs"].as_array().unwrap();
    assert_eq!(found.iter().map(|one| id(&one["run"])).collect::<Vec<_>>(), runs);
    let value = |task: &str, name: &str, value: f64| json!([{"task": task, "name": name, "value": value}]);
    for (one, (loss, least)) in found.iter().zip([(0.91, 7), (0.93, 7), (0.95, 8)]) {
        assert_eq!(one["parameters"], json!({"least": least}), "defaults are included: {one}");
        assert_eq!(
            one["metrics"],
            value("learn", "loss", loss),
            "a task with several instances has none: {one}"
        );
        assert_eq!(one["outputs"], value("judge", "auc", 0.5), "a path is no number: {one}");
        let names: Vec<&str> =
            one["tasks"].as_array().unwrap().iter().filter_map(|task| task["name"].as_str()).collect();
        assert_eq!(names, ["learn", "judge", "each"]);
        assert!(one["tasks"][0]["run_seconds"].is_number(), "{one}");
    }
    // Ended runs are kept in memory: the answer stays the same.
    assert_eq!(viewer.get(&path).expect(200).json()["runs"], json!(found));
    let text = page(&viewer, &format!("/projects/default/compare?runs={}", runs.join(",")));
    assert!(text.contains("0.93") && !text.contains(&format!("/runs/{}/compare", runs[1])), "{text}");
    let two = page(&viewer, &format!("/projects/default/compare?runs={},{}", runs[0], runs[1]));
    assert!(two.contains(&format!("/runs/{}/compare?with={}", runs[1], runs[0])), "{two}");
}

#[test]
fn runs_that_cannot_be_compared_are_refused() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &document("quick", &format!("tasks:\n{}", task("a", "true", ""))));
    let compare = |runs: &str| editor.get(&format!("/projects/default/runs/compare?runs={runs}"));
    for few in [String::new(), run.clone(), format!("{run},{run}")] {
        compare(&few).expect(422).problem("invalid");
    }
    compare(&format!("{run},nothing")).expect(404).problem("not-found");
    compare(&format!("{run},01aaaaaaaaaaaaaaaaaaaaaaaa")).expect(404).problem("not-found");
    editor.get("/projects/default/runs/compare").expect(422);
    let (stranger, path) =
        (server.as_(Who::Stranger), format!("/projects/default/runs/compare?runs={run},{run}"));
    stranger.get(&path).expect(404);
}
