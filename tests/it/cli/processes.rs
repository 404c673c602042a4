//! Several processes on one data folder, and killed processes.

use rustix::process::Signal;

use crate::support::{TestApp, states, wait_for};

const WAITING: &str = r#"
  - {name: wait, template: command, arguments: {command: [sh, -c, "touch $CUBELOOM_RUN_DIR/here; while [ ! -e $CUBELOOM_WORKSPACE/go ]; do sleep 0.02; done; echo x >> $CUBELOOM_RUN_DIR/ran"]}}
  - {name: after, template: command, needs: [wait], arguments: {command: [echo, done]}}
"#;

#[test]
fn two_processes_run_pipelines_at_once() {
    let app = TestApp::new();
    let (one, two) = (app.pipeline("one", WAITING), app.pipeline("two", WAITING));
    let first = app.start(&["run", &one]);
    app.wait_for_file("here");
    let second = app.start(&["run", &two, "--watch"]);
    wait_for("both to run", || app.json(0, &["runs", "--state", "running"]).as_array().unwrap().len() == 2);
    app.write("data/workspace/default/go", "");
    assert_eq!(first.wait().code, Some(0));
    let second = second.wait();
    assert_eq!(second.code, Some(0));
    assert!(second.out.contains("✓ two succeeded"), "{}", second.out);
}

#[test]
fn who_waits_takes_over_when_the_engine_dies() {
    let app = TestApp::new();
    let (one, two) = (app.pipeline("one", WAITING), app.pipeline("two", WAITING));
    let first = app.start(&["run", &one]);
    app.wait_for_file("here");
    let second = app.start(&["run", &two]);
    wait_for("both to run", || app.json(0, &["runs", "--state", "running"]).as_array().unwrap().len() == 2);
    first.signal(Signal::KILL);
    assert_eq!(first.wait().signal, Some(9));
    app.write("data/workspace/default/go", "");
    assert_eq!(second.wait().code, Some(0));
    // The next process finishes the first run.
    let server = app.serve();
    wait_for("the first run", || {
        app.json(0, &["runs", "--state", "succeeded"]).as_array().unwrap().len() == 2
    });
    drop(server);
}

#[test]
fn a_server_takes_up_what_a_killed_one_had_started() {
    let app = TestApp::new();
    let file = app.pipeline("survivor", WAITING);
    let server = app.serve();
    app.expect(0, &["run", &file, "--detach"]);
    app.wait_for_file("here");
    server.signal(Signal::KILL);
    let _ = server.wait();
    // The worker ends while no server is running.
    app.write("data/workspace/default/go", "");
    app.wait_for_file("ran");
    let server = app.serve();
    wait_for("the run to end", || app.latest()["run"]["state"] == "succeeded");
    assert_eq!(states(&app.latest()), [("wait", "succeeded"), ("after", "succeeded")]);
    assert_eq!(app.result("ran"), "x\n", "it ran once");
    server.signal(Signal::TERM);
    let done = server.wait();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.err.contains("ready") && done.err.contains("jobs continue"), "{done:?}");
}

#[test]
fn a_server_that_drains_lets_jobs_go_on() {
    let app = TestApp::new();
    let file = app.pipeline("drained", WAITING);
    let server = app.serve();
    app.expect(0, &["run", &file, "--detach"]);
    app.wait_for_file("here");
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code, Some(0));
    app.write("data/workspace/default/go", "");
    app.wait_for_file("ran");
    // Without a server, the CLI process itself becomes the engine.
    let other =
        app.pipeline("other", "  - {name: nothing, template: command, arguments: {command: ['true']}}\n");
    app.expect(0, &["run", &other]);
    let server = app.serve();
    wait_for("both to end", || app.json(0, &["runs", "--state", "succeeded"]).as_array().unwrap().len() == 2);
    drop(server);
}

#[test]
fn a_run_can_be_left_to_a_server_only_where_there_is_one() {
    let app = TestApp::new();
    let file = app.pipeline("left", "  - {name: quick, template: command, arguments: {command: ['true']}}\n");
    assert!(app.expect(2, &["run", &file, "--detach"]).err.contains("cubeloom serve"));
    assert!(app.json(0, &["runs"]).as_array().unwrap().is_empty());
    let server = app.serve();
    let run = app.json(0, &["run", &file, "--detach"]);
    wait_for("the run to end", || app.latest()["run"]["state"] == "succeeded");
    assert_eq!(app.latest()["run"]["id"], run["run"]);
    let watched = app.expect(0, &["run", &file, "--watch"]);
    assert!(watched.out.contains("✓ left succeeded"), "{watched:?}");
    let second = app.expect(4, &["serve"]);
    assert!(second.err.contains(&format!("another cubeloom (process {})", server.pid())), "{second:?}");
}
