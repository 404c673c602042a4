//! The `approval` template: its example, answered from another terminal. `api::runs::decisions` tests the
//! rest.

use std::process::Stdio;

use super::rig::{app, shipped};
use crate::support::wait_for;

#[test]
fn the_example_of_approval_is_answered_from_another_terminal() {
    let app = app();
    let early = app.expect(2, &["decide", "latest", "ask", "yes"]);
    assert!(early.err.contains("there are no runs yet"), "{}", early.err);
    let mut run = app
        .command(&["run", &shipped("task-templates/approval/example.yaml")])
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let decided = |task: &str| {
        let words = ["decide", "latest", task, "yes", "--comment", "go ahead"];
        app.command(&words).stderr(Stdio::null()).stdout(Stdio::null()).status().expect("it ends").success()
    };
    wait_for("the question to be answered", || decided("ask"));
    assert!(run.wait().expect("it ends").success());
    let log = app.expect(0, &["logs", "latest", "publish"]).out;
    assert!(log.contains("published, as "), "{log}");
    assert!(!decided("ask"), "it is asked no more");
    assert!(!decided("measure"), "nothing was asked");
}
