//! `cubeloom serve --run FILE [--once]`, which is what `make run` calls.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::api::support::client::send;
use crate::api::support::{Client, PASSWORD};
use crate::support::{TestApp, wait_for};

const COUNTS: &str = r#"
  - name: count
    template: python
    arguments: {code: "import cubeloom; cubeloom.outputs(rows=41)"}
"#;

const BREAKS: &str = r#"
  - {name: first, template: command, arguments: {command: [sh, -c, "echo the well is dry; exit 3"]}}
  - {name: after, template: command, needs: [first], arguments: {command: [echo, done]}}
"#;

/// The server's address and the sign-in link, both printed before the results.
#[track_caller]
fn address_and_link(out: &str) -> (String, String) {
    let told = |start: &str| {
        let found = out.lines().position(|line| line.starts_with(start));
        let at = found.unwrap_or_else(|| panic!("no line `{start}`: {out}"));
        (at, out.lines().nth(at).unwrap_or_default()[start.len()..].to_owned())
    };
    let ((first, url), (second, link)) = (told("Cubeloom is at "), told("sign in: "));
    assert!((first, second) == (0, 1), "{out}");
    assert_eq!(out.matches("?token=").count(), 1, "one link: {out}");
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    assert!(link.starts_with(&format!("{url}/welcome?token=")), "{link}");
    (url, link)
}

#[test]
fn once_ends_with_the_run_and_prints_its_table_and_results() {
    let app = TestApp::new();
    let done = app.expect(0, &["serve", "--run", &app.pipeline("counted", COUNTS), "--once"]);
    address_and_link(&done.out);
    let table = done.out.lines().find(|line| line.starts_with("TASK")).unwrap_or_else(|| panic!("{done:#?}"));
    assert!(table.contains("STATE") && table.contains("PEAK MEMORY"), "{table}");
    assert!(done.out.contains("✓ succeeded"), "{done:#?}");
    assert!(done.out.contains("Results in ") && done.out.contains("count.rows  41"), "{done:#?}");
    assert!(!done.out.contains("The server continues"), "{done:#?}");
    assert!(!app.data().join("server.json").exists(), "no server is announced any more");
    assert_eq!(app.latest()["run"]["state"], "succeeded");
}

/// As for a clone in `/tmp`: each attempt has its own `/tmp` and does not see the machine's.
#[test]
fn a_program_in_tmp_runs_tasks_of_its_own() {
    let mut app = TestApp::in_folder(Path::new("/tmp"));
    app.run_copy();
    app.set("CUBELOOM_SANDBOX_TMP", "true");
    let tasks = r#"
  - {name: make, template: command, arguments: {command: [sh, -c, "echo 41 >\"$CUBELOOM_RUN_DIR/a\""]}}
  - {name: move, template: transfer, needs: [make], arguments: {from: "{{ run.dir }}/a", to: "{{ run.dir }}/b"}}
"#;
    app.expect(0, &["serve", "--run", &app.pipeline("moved", tasks), "--once"]);
}

#[test]
fn once_ends_as_the_run_did() {
    let app = TestApp::new();
    let done = app.expect(1, &["serve", "--run", &app.pipeline("broken", BREAKS), "--once"]);
    address_and_link(&done.out);
    assert!(done.out.contains("✗ first failed") && done.out.contains("the well is dry"), "{done:#?}");
    assert!(done.out.contains("after"), "the table has every task: {done:#?}");

    // An invalid pipeline starts nothing, and the error has its position.
    let wrong = app.pipeline("wrong", "  - {name: only, template: no-such-template}\n");
    let done = app.expect(2, &["serve", "--run", &wrong, "--once"]);
    assert!(format!("{}{}", done.out, done.err).contains("no-such-template"), "{done:#?}");
    assert_eq!(app.json(0, &["runs"]).as_array().map(Vec::len), Some(1));
    // Without a readable file, no server starts.
    app.expect(2, &["serve", "--run", "/no/such/pipeline.yaml", "--once"]);
    assert!(app.expect(2, &["serve", "--once"]).err.contains("--run"));
}

#[test]
fn once_prints_the_run_for_programs() {
    let app = TestApp::new();
    let file = app.pipeline("counted", COUNTS);
    let done = app.expect(0, &["serve", "--run", &file, "--once", "--output", "json"]);
    let (_, report) = done.out.split_once("\n{").unwrap_or_else(|| panic!("{done:#?}"));
    let report: Value = serde_json::from_str(&format!("{{{report}")).unwrap();
    assert_eq!(report["run"]["state"], "succeeded", "{report}");
}

#[test]
fn without_once_the_server_goes_on_after_the_run_whatever_became_of_it() {
    for (name, tasks, said) in [("counted", COUNTS, "count.rows  41"), ("broken", BREAKS, "the well is dry")]
    {
        let app = TestApp::new();
        let log = app.path("out");
        let server = app.start_logged(&["serve", "--run", &app.pipeline(name, tasks)], &log);
        let out = || fs::read_to_string(&log).unwrap_or_default();
        wait_for("the run to have been told", || out().contains("The server continues at "));
        let told: Vec<String> = out().lines().map(ToOwned::to_owned).collect();
        assert!(out().contains(said), "{told:#?}");
        // The server's log is in the same file.
        let told = told.iter().filter(|line| line.starts_with("Cubeloom is") || line.starts_with("sign in"));
        let (url, link) = address_and_link(&told.cloned().collect::<Vec<_>>().join("\n"));
        signs_in_once(&url, &link);
        server.signal(Signal::INT);
        assert_eq!(server.wait().code, Some(0), "it was told to end: {}", out());
        assert!(!out().contains("were read again"), "nothing has changed: {}", out());
    }
}

/// The link creates the administrator, who sees the run. It works only once.
fn signs_in_once(url: &str, link: &str) {
    let nobody = Client::new(url.to_owned(), None);
    assert_eq!(nobody.get("/health").expect(200).json()["status"], "ok");
    let (_, token) = link.split_once("?token=").unwrap();
    let body = json!({"token": token, "name": "grace", "password": PASSWORD});
    let made = nobody.post("/links/use", &body).expect(201);
    let cookie = made.header("set-cookie").split(';').next().unwrap().to_owned();
    let runs =
        send(nobody.request(reqwest::Method::GET, "/runs").header("cookie", cookie)).expect(200).json();
    assert_eq!(runs["items"].as_array().map(Vec::len), Some(1), "{runs}");
    nobody.post("/links/use", &body).expect(410).problem("gone");
}

/// The Makefile's `make run` uses the call tested here.
#[test]
fn make_run_calls_the_server_as_it_is_called_here() {
    let called = |words: &[&str]| {
        let mut make = Command::new("make");
        make.args(["--dry-run", "--no-print-directory", "run"]).args(words);
        // `make` itself may run these tests.
        make.env_remove("MAKEFLAGS").env_remove("MAKEOVERRIDES").env_remove("MAKELEVEL");
        let output = make.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        out.lines().last().unwrap_or_default().trim().to_owned()
    };
    let plain = called(&[]);
    assert!(plain.ends_with("/cubeloom serve --run \"examples/digits/pipeline.yaml\""), "{plain}");
    let told = called(&["ONCE=1", "PIPELINE=my.yaml", "DATA=/tmp/d"]);
    assert!(told.ends_with("/cubeloom serve --run \"my.yaml\" --once --data \"/tmp/d\""), "{told}");
}
