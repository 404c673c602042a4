//! Conditions, trigger rules, retries, timeouts and limits of tasks.

use crate::support::{TestApp, instance, states, wait_for};

#[test]
fn conditions_and_trigger_rules_decide() {
    let app = TestApp::new();
    let file = app.pipeline(
        "rules",
        r#"
  - {name: good, template: command, arguments: {command: ["true"]}}
  - {name: bad, template: command, arguments: {command: ["false"]}}
  - {name: never, template: command, needs: [good], when: "1 > 2", arguments: {command: ["true"]}}
  - {name: alarm, template: command, needs: [good, bad], trigger: one_failed, arguments: {command: ["true"]}}
  - {name: always, template: command, needs: [bad], trigger: all_done, arguments: {command: ["true"]}}
  - {name: needy, template: command, needs: [bad], arguments: {command: ["true"]}}
  - {name: fine, template: command, needs: [good, never], trigger: none_failed, arguments: {command: ["true"]}}
"#,
    );
    let run = app.json(1, &["run", &file]);
    let expected = [
        ("good", "succeeded"),
        ("bad", "failed"),
        ("never", "skipped"),
        ("alarm", "succeeded"),
        ("always", "succeeded"),
        ("needy", "not run"),
        ("fine", "succeeded"),
    ];
    assert_eq!(states(&run), expected);
}

#[test]
fn a_failed_attempt_is_tried_again() {
    let app = TestApp::new();
    let file = app.pipeline(
        "again",
        r#"
  - name: shaky
    template: command
    arguments: {command: [sh, -c, 'echo attempt $CUBELOOM_ATTEMPT; [ "$CUBELOOM_ATTEMPT" = 3 ]']}
    retry: {attempts: 3, backoff: {initial: 10ms}}
"#,
    );
    let run = app.json(0, &["run", &file]);
    assert_eq!(instance(&run, "shaky")["attempt"], 3);
    let log = |words: &[&str]| app.expect(0, &[&["logs", "latest", "shaky", "--stdout"], words].concat()).out;
    assert!(log(&[]).ends_with("attempt 3\n"));
    assert!(log(&["--attempt", "1"]).ends_with("attempt 1\n"));
}

#[test]
fn a_timeout_ends_a_task() {
    let app = TestApp::new();
    let file = app.pipeline(
        "slow",
        "  - {name: slow, template: command, arguments: {command: [sleep, '60']}, timeout: 300ms}\n",
    );
    let run = app.json(1, &["run", &file]);
    assert_eq!(instance(&run, "slow")["state"]["failure"]["kind"], "timeout");
}

#[test]
fn active_runs_are_bounded() {
    let app = TestApp::new();
    let file = app.document(
        "single",
        r#"max_active_runs: 1
tasks:
  - {name: wait, template: command, arguments: {command: [sh, -c, "touch $CUBELOOM_RUN_DIR/here; while [ ! -e $CUBELOOM_WORKSPACE/go ]; do sleep 0.02; done"]}}
"#,
    );
    let server = app.serve();
    app.expect(0, &["run", &file, "--detach"]);
    app.wait_for_file("here");
    app.expect(0, &["run", &file, "--detach"]);
    let runs = || app.json(0, &["runs"]);
    wait_for("the second run to be seen", || runs()[0]["state"] == "queued");
    assert_eq!(runs()[1]["state"], "running");
    app.write("data/workspace/default/go", "");
    wait_for("both runs to end", || runs().as_array().unwrap().iter().all(|run| run["state"] == "succeeded"));
    let runs = runs();
    assert!(runs[0]["started_at"].as_i64() >= runs[1]["ended_at"].as_i64(), "{runs}");
    drop(server);
}
