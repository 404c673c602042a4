//! The `command` and `python` templates.

use std::fs;

use super::rig::{app_without_environments, folder, run};
use crate::support::{TestApp, outputs};

#[test]
fn command_runs_a_program_with_its_arguments_without_a_shell() {
    let app = TestApp::new();
    let file = app.pipeline(
        "command",
        r#"
  - name: write
    template: command
    arguments: {command: [sh, -c, 'printf "%s\n" "$@" > "$CUBELOOM_RUN_DIR/words"', sh, "a b", "$HOME", "'c'"]}
"#,
    );
    let run = app.json(0, &["run", &file]);
    assert_eq!(fs::read_to_string(folder(&run).join("words")).unwrap(), "a b\n$HOME\n'c'\n");
}

#[test]
fn a_script_that_is_not_there_is_missed_before_anything_starts() {
    let app = TestApp::new();
    let task = |script: &str| format!("  - {{name: a, template: python, arguments: {{script: {script}}}}}\n");
    let said = app.expect(2, &["run", &app.pipeline("missing", &task("lib/train.py"))]).out;
    assert!(
        said.contains(
            "5:45: error: /tasks/0/arguments/script: the pipeline's folder has no file `lib/train.py`"
        ),
        "{said}"
    );
    app.write("there/lib/train.py", "");
    app.expect(0, &["run", &app.pipeline("there", &task("./lib/train.py"))]);
}

#[test]
fn python_has_the_packages_that_it_asks_for() {
    let app = app_without_environments();
    let file = app.pipeline(
        "packages",
        r#"
  - name: script
    template: python
    arguments: {script: main.py, args: [1, 2.5, "x y"], requirements: [six==1.17.0]}
"#,
    );
    app.write(
        "packages/main.py",
        "import sys, six, cubeloom\n\
         cubeloom.outputs(version=six.__version__, args=sys.argv[1:], file=six.__file__)\n",
    );
    let first = run(&app, 0, &file, &[]);
    let script = outputs(&first, "script");
    assert_eq!(
        (&script["version"], &script["args"]),
        (&"1.17.0".into(), &serde_json::json!(["1", "2.5", "x y"]))
    );
    let venvs = app.data().join("venvs");
    assert!(script["file"].as_str().unwrap().starts_with(venvs.to_str().unwrap()), "{script}");
    // The second run uses the same environment.
    let made = |name: &str| fs::metadata(venvs.join(name)).unwrap().modified().unwrap();
    let names: Vec<String> = fs::read_dir(&venvs)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.contains('.'))
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let before = made(&names[0]);
    run(&app, 0, &file, &[]);
    assert_eq!(made(&names[0]), before);
}

#[test]
fn a_package_that_does_not_exist_is_named() {
    let app = app_without_environments();
    let file = app.pipeline(
        "missing",
        "  - {name: bad, template: python, arguments: {code: pass, requirements: ['six==0.0.0.1']}}\n",
    );
    let run = run(&app, 1, &file, &[]);
    let message = run["tasks"][0]["instances"][0]["state"]["failure"]["message"].to_string();
    assert!(message.contains("six==0.0.0.1"), "{run}");
}
