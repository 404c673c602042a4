//! `cubeloom compile --for slurm`: the scripts of a whole pipeline, and the folder ready to submit.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::TestApp;

const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello/pipeline.yaml");
const ELASTIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/elastic/pipeline.yaml");

/// Facts of a cluster whose shared file system is the test's folder.
fn facts(app: &TestApp) -> String {
    let shared = app.path("shared");
    let shared = shared.to_str().unwrap();
    let text = format!(
        "slurm:\n  workspace: {shared}/{{project}}\n  templates: {shared}/templates\n  program: /opt/cubeloom\n"
    );
    app.write("facts.yaml", &text).to_str().unwrap().into()
}

#[test]
fn scripts_are_printed_with_what_was_decided() {
    let app = TestApp::new();
    let done = app.expect(0, &["compile", ELASTIC, "--for", "slurm"]);
    let first = done.out.lines().next().unwrap();
    assert!(first.starts_with("# ") && first.contains("GPU types"), "{first}");
    assert!(
        done.out.contains("#SBATCH --qos=high\n") && done.out.contains("# - it starts with all of its"),
        "{}",
        done.out
    );
    let facts = facts(&app);
    let call = ["compile", ELASTIC, "--for", "slurm", "--facts", &facts];
    let done = app.expect(0, &call);
    assert!(!done.out.contains("--qos") && done.out.contains("cubeloom=/opt/cubeloom\n"), "{}", done.out);
    let compiled = app.json(0, &call);
    let train = compiled["tasks"].as_array().unwrap().iter().find(|task| task["task"] == "train").unwrap();
    assert!(train["jobs"][0]["script"].as_str().unwrap().starts_with("#!/bin/bash\n#SBATCH "));
    assert!(train["jobs"][0]["job"]["workers"][0]["env"].is_object());
    assert!(!app.path("shared").exists(), "nothing is written unless it is asked for");
}

#[test]
fn what_a_script_needs_is_written_once() {
    let app = TestApp::new();
    let pipeline = app.pipeline(
        "two",
        "  - {name: one, template: command, arguments: {command: [echo, a]}, outputs: [n], secrets: [key]}\n  \
         - {name: two, template: command, needs: [one], arguments: {command: [echo, '{{ tasks.one.outputs.n }}']}}\n",
    );
    let facts = facts(&app);
    let call = ["compile", &pipeline, "--for", "slurm", "--facts", &facts, "--write"];
    let done = app.expect(0, &call);
    let script = done.out.trim().strip_prefix("sbatch ").unwrap_or_else(|| panic!("{done:?}"));
    assert!(done.err.contains("two: not written"), "{}", done.err);
    assert!(done.err.contains("secrets.json, mode 0600: key"), "{}", done.err);
    assert_eq!(fs::metadata(script).unwrap().permissions().mode() & 0o777, 0o750);
    let folder = std::path::Path::new(script).parent().unwrap();
    assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o750);
    let job: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("job.json")).unwrap()).unwrap();
    let env = &job["workers"][0]["env"];
    for (name, file) in [("CUBELOOM_TEMPLATE_DIR", "template.yaml"), ("CUBELOOM_CODE", "pipeline.yaml")] {
        let copied = std::path::Path::new(env[name].as_str().unwrap()).join(file);
        assert!(copied.is_file(), "{}", copied.display());
    }
    // Each call is a new run, with its own attempts.
    let again = app.json(0, &call);
    let scripts = again["scripts"].as_array().unwrap();
    assert!(scripts.len() == 1 && scripts[0] != script, "{again}");
}

/// Without dependencies, jobs submitted together would run at once.
#[test]
fn what_comes_after_others_is_printed_with_their_ids_left_open() {
    let app = TestApp::new();
    let pipeline = app.pipeline(
        "order",
        "  - {name: one, template: command, arguments: {command: [echo]}}\n  \
         - {name: two, template: command, needs: [one], arguments: {command: [echo]}}\n",
    );
    let done = app.expect(0, &["compile", &pipeline, "--for", "slurm", "--facts", &facts(&app), "--write"]);
    let lines: Vec<&str> = done.out.lines().collect();
    assert!(lines[0].starts_with("sbatch /"), "{lines:?}");
    assert!(lines[1].starts_with("sbatch --dependency=afterok:ID-OF-one /"), "{lines:?}");
    assert!(done.err.contains("two: submitted unchanged, it does not wait"), "{}", done.err);
}

#[test]
fn facts_and_calls_that_are_wrong_are_told() {
    let app = TestApp::new();
    let wrong = app.write("wrong.yaml", "slurm: {workspace: here, templates: /t, program: /p}\n");
    let refused = app.expect(2, &["compile", HELLO, "--for", "slurm", "--facts", wrong.to_str().unwrap()]);
    assert!(refused.err.contains("slurm.workspace") && refused.err.contains("docs/slurm.md"), "{refused:?}");
    assert!(app.expect(2, &["compile", HELLO, "--for", "slurm", "--write"]).err.contains("--facts"));
    assert!(app.expect(2, &["compile", HELLO, "--write"]).err.contains("--for slurm"));
    let needy = app.pipeline(
        "needy",
        "  - {name: one, template: command, arguments: {command: [echo]}, resources: {gpu: {count: 1}}}\n",
    );
    let done = app.expect(2, &["compile", &needy, "--for", "slurm", "--facts", &facts(&app)]);
    assert!(done.out.contains("/tasks/0/resources/gpu: this cluster has no GPUs"), "{done:?}");
}
