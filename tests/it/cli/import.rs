//! Import of another platform's files: pipelines become documents, job templates are installed.

use std::fs;

use crate::support::TestApp;

const TEMPLATES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../server/compiler/tests/documents/cube-studio/templates.json");
const PIPELINES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../server/compiler/tests/documents/cube-studio/pipelines.json");

#[test]
fn job_templates_are_installed_and_clashes_told() {
    let app = TestApp::new();
    let words = ["import", "cube-studio", TEMPLATES, "-o", app.path("made").to_str().unwrap(), "--install"]
        .map(ToOwned::to_owned);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = app.call(&words);
    assert!(done.err.contains("installed: detector"), "{done:?}");
    assert!(!done.err.contains("installed: mpi"), "a launcher is nothing to install: {done:?}");
    assert!(app.expect(0, &["template", "show", "detector"]).out.contains("Finds objects"));
    let text = fs::read_to_string(TEMPLATES).unwrap().replace("\"detector\"", "\"command\"");
    let clash = app.write("clash.json", &text);
    let done = app.expect(2, &["import", "cube-studio", clash.to_str().unwrap(), "--install"]);
    assert!(done.err.contains("not installed: command: another template has this name"), "{done:?}");
    assert!(app.expect(0, &["template", "show", "command"]).out.starts_with("command 1."), "ours stays");
}

#[test]
fn pipelines_are_printed_and_the_report_is_beside_them() {
    let app = TestApp::new();
    let done = app.expect(0, &["import", "cube-studio", PIPELINES, "--templates", TEMPLATES]);
    let documents: Vec<&str> = done.out.split("\n---\n").collect();
    assert_eq!(documents.len(), 4, "{done:?}");
    assert!(documents[0].contains("name: images") && documents[2].contains("kind: TaskTemplate"), "{done:?}");
    for line in [
        "changed: /images/tasks/0/resource_cpu: 2~4 became 4: a worker has a single amount here",
        "left out: /images/pipeline/alert_user: has no counterpart here and is not carried over",
        "to do: /launchers/tasks/2/args/--num_worker: is not a number of workers",
        "changed: /launchers/tasks/3/args: `tfjob` created its own job; it now uses the template `tensorflow`",
        "changed: templates:/pytorchjob: `pytorchjob` creates its own job, for which the template is `pytorch`",
    ] {
        assert!(done.err.contains(line), "{line}: {done:?}");
    }
    assert!(!done.out.contains("to do: "), "{done:?}");
}

#[test]
fn documents_are_written_where_nothing_is() {
    let app = TestApp::new();
    let folder = app.path("made");
    let words =
        ["import", "cube-studio", PIPELINES, "--templates", TEMPLATES, "-o", folder.to_str().unwrap()];
    let done = app.expect(0, &words);
    let made = ["images.yaml", "launchers.yaml", "task-templates/detector/template.yaml"];
    for name in made {
        let path = folder.join(name);
        assert!(done.out.contains(path.to_str().unwrap()), "{name}: {done:?}");
        assert!(fs::read_to_string(path).unwrap().starts_with("apiVersion: cubeloom/v1"), "{name}");
    }
    assert!(done.err.contains("to do: "), "{done:?}");
    let mine = folder.join("images.yaml");
    fs::write(&mine, "mine").unwrap();
    let refused = app.expect(2, &words);
    assert!(refused.err.contains("images.yaml already exists: choose another folder with -o"), "{refused:?}");
    assert_eq!(fs::read_to_string(mine).unwrap(), "mine");
}

#[test]
fn programs_read_an_import_as_json() {
    let app = TestApp::new();
    let made = app.json(0, &["import", "cube-studio", PIPELINES, "--templates", TEMPLATES]);
    let documents = made["documents"].as_array().unwrap();
    let kinds: Vec<&str> = documents.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["pipeline", "pipeline", "task_template", "task_template"]);
    assert!(documents[0]["document"].as_str().unwrap().contains("name: images"));
    let report = made["report"].as_array().unwrap();
    assert!(report.iter().any(|line| line["fate"] == "problem" && line["path"] == "/launchers/tasks/6"));
    let refused = app.expect(2, &["import", "cube-studio", PIPELINES, "--name", "mine"]);
    assert!(
        refused.err.contains("the file has 2 pipelines, which cannot all be called `mine`"),
        "{refused:?}"
    );
}
