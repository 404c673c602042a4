//! Cancelling and rerunning runs.

use rustix::process::Signal;

use crate::support::{TestApp, instance, outputs, states, wait_for};

fn hanging(app: &TestApp) -> String {
    app.pipeline(
        "hang",
        r#"
  - {name: hang, template: command, arguments: {command: [sh, -c, "touch $CUBELOOM_RUN_DIR/here; sleep 600"]}}
  - {name: after, template: command, needs: [hang], arguments: {command: ["true"]}}
"#,
    )
}

#[test]
fn another_process_can_cancel_a_run() {
    let app = TestApp::new();
    let file = hanging(&app);
    let run = app.start(&["run", &file]);
    app.wait_for_file("here");
    app.expect(0, &["cancel", "latest"]);
    assert_eq!(run.wait().code, Some(3));
    assert_eq!(states(&app.latest()), [("hang", "cancelled"), ("after", "not run")]);
    assert!(app.expect(2, &["cancel", "latest"]).err.contains("has ended already"));
}

#[test]
fn a_task_that_failed_is_marked_and_its_run_goes_on() {
    let app = TestApp::new();
    let file = app.pipeline(
        "marked",
        r#"
  - {name: pull, template: command, arguments: {command: ["false"]}}
  - {name: train, template: command, needs: [pull], arguments: {command: ["true"]}}
"#,
    );
    app.expect(1, &["run", &file]);
    let reason = ["--reason", "copied by hand"];
    assert!(app.expect(2, &["mark", "latest", "pull", "done", "--reason", "x"]).err.contains("succeeded"));
    assert!(
        app.expect(2, &["mark", "latest", "nobody", "skipped", "--reason", "x"]).err.contains("has no task")
    );
    let other = ["mark", "latest", "pull", "failed", "--instance", "3", "--reason", "x"];
    assert!(app.expect(2, &other).err.contains("has not started"));
    app.expect(0, &[&["mark", "latest", "pull", "succeeded"][..], &reason].concat());
    assert_eq!(states(&app.latest()), [("pull", "succeeded"), ("train", "succeeded")]);
}

#[test]
fn the_first_interrupt_cancels() {
    let app = TestApp::new();
    let file = hanging(&app);
    let run = app.start(&["run", &file, "--watch"]);
    app.wait_for_file("here");
    run.signal(Signal::INT);
    let done = run.wait();
    assert_eq!(done.code, Some(3));
    assert!(done.out.contains("cancelling the run") && done.out.contains("■ hang cancelled"), "{done:?}");
}

#[test]
fn the_second_interrupt_leaves_and_the_run_goes_on() {
    let mut app = TestApp::new();
    app.set("CUBELOOM_LOCAL_GRACE", "30s");
    let file = app.pipeline(
        "stubborn",
        r#"
  - {name: hang, template: command, arguments: {command: [sh, -c, "trap '' TERM; touch $CUBELOOM_RUN_DIR/here; while :; do sleep 0.1; done"]}}
"#,
    );
    let run = app.start(&["run", &file]);
    app.wait_for_file("here");
    run.signal(Signal::INT);
    wait_for("the wish", || app.latest()["run"]["state"] == "cancelling");
    run.signal(Signal::INT);
    let done = run.wait();
    assert_eq!(done.code, Some(5));
    assert!(done.err.contains("which continues"), "{done:?}");
    assert_eq!(app.latest()["run"]["state"], "cancelling");
    // The grace period of a second cancel may only shorten the first one's.
    let shorter = app.command(&["cancel", "latest"]).env("CUBELOOM_LOCAL_GRACE", "100ms").output().unwrap();
    assert_eq!(shorter.status.code(), Some(0), "{shorter:?}");
}

#[test]
fn a_failed_run_is_resumed_and_keeps_what_succeeded() {
    let app = TestApp::new();
    let file = app.pipeline(
        "half",
        r#"
  - {name: one, template: command, arguments: {command: [sh, -c, "echo x >> $CUBELOOM_WORKSPACE/one"]}}
  - {name: two, template: command, needs: [one], arguments: {command: [sh, -c, "test -e $CUBELOOM_WORKSPACE/ready"]}}
  - {name: three, template: command, needs: [two], arguments: {command: ["true"]}}
"#,
    );
    app.expect(1, &["run", &file]);
    app.write("data/workspace/default/ready", "");
    let run = app.json(0, &["resume", "latest"]);
    assert_eq!(states(&run), [("one", "succeeded"), ("two", "succeeded"), ("three", "succeeded")]);
    assert_eq!(std::fs::read_to_string(app.path("data/workspace/default/one")).unwrap(), "x\n");
    assert_eq!(instance(&run, "two")["attempt"], 2);
}

#[test]
fn tasks_are_run_again_on_demand() {
    let app = TestApp::new();
    let count = "import os, cubeloom; cubeloom.outputs(n=int(os.environ['CUBELOOM_ATTEMPT']))";
    let file = app.pipeline(
        "repeat",
        &format!(
            r#"
  - {{name: first, template: python, arguments: {{code: "{count}"}}}}
  - {{name: second, template: python, needs: [first], arguments: {{code: "{count}"}}}}
  - {{name: third, template: python, needs: [second], arguments: {{code: "{count}"}}}}
"#
        ),
    );
    app.expect(0, &["run", &file]);
    let run = app.json(0, &["rerun", "latest", "--from", "second"]);
    let counts = ["first", "second", "third"].map(|task| outputs(&run, task)["n"].as_i64().unwrap());
    assert_eq!(counts, [1, 2, 2]);
    assert!(
        app.expect(2, &["rerun", "latest", "--from", "fourth"]).err.contains("it has: first, second, third")
    );
}

#[test]
fn what_runs_cannot_be_run_again() {
    let app = TestApp::new();
    let file = hanging(&app);
    let run = app.start(&["run", &file]);
    app.wait_for_file("here");
    assert!(app.expect(2, &["resume", "latest"]).err.contains("is running"));
    app.expect(0, &["cancel", "latest"]);
    let _ = run.wait();
}
