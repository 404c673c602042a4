//! Logs of workers.

use crate::support::TestApp;

fn talkative(app: &TestApp) -> String {
    app.pipeline(
        "talk",
        r#"
  - name: talk
    template: indexed
    arguments: {workers: 2, command: [sh, -c, "for n in 1 2 3; do echo line $n of $CUBELOOM_INDEX; done; echo oops >&2"]}
    resources: {cpu: 100m, memory: 64Mi}
"#,
    )
}

#[test]
fn logs_can_be_chosen() {
    let app = TestApp::new();
    let file = talkative(&app);
    app.expect(0, &["run", &file]);
    let all = app.expect(0, &["logs", "latest"]).out;
    for part in ["==> talk worker-0 <==", "line 3 of 1", "==> talk worker-1 stderr <==\noops"] {
        assert!(all.contains(part), "{part}: {all}");
    }
    let one = ["logs", "latest", "talk", "--worker", "worker-1", "--stdout"];
    assert_eq!(app.expect(0, &[&one[..], &["--tail", "1"]].concat()).out, "line 3 of 1\n");
    assert_eq!(app.expect(0, &one).out, "line 1 of 1\nline 2 of 1\nline 3 of 1\n");
    assert!(app.expect(2, &["logs", "latest", "walk"]).err.contains("it has: talk"));
    assert!(app.expect(2, &["logs", "nosuchrun"]).err.contains("there is no run `nosuchrun`"));
    assert!(app.expect(0, &["logs", "latest", "--worker", "worker-9"]).err.contains("no logs"));
}

#[test]
fn logs_are_followed_to_the_end() {
    let app = TestApp::new();
    let file = app.pipeline(
        "slowly",
        r#"
  - {name: say, template: command, arguments: {command: [sh, -c, "echo one; sleep 1; echo two"]}}
"#,
    );
    let run = app.start(&["run", &file]);
    app.wait_for_file(".");
    let followed = app.expect(0, &["logs", "latest", "say", "--worker", "worker-0", "--follow"]);
    assert_eq!(followed.out, "one\ntwo\n");
    assert_eq!(run.wait().code, Some(0));
}
