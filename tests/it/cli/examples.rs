//! The first examples that a newcomer tries.

use crate::support::{TestApp, instance, outputs, states};

const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello/pipeline.yaml");

#[test]
fn hello_runs_and_tells_where_results_lie() {
    let app = TestApp::new();
    let done = app.expect(0, &["run", HELLO, "--watch"]);
    // Neither "starting" nor "running": a task may be further along before the terminal is updated.
    for part in ["greet succeeded", "repeat succeeded", "PEAK MEMORY", "✓ hello succeeded in", "Results in "]
    {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    assert_eq!(done.err, "");
    let run = app.latest();
    assert_eq!(states(&run), [("greet", "succeeded"), ("repeat", "succeeded")]);
    assert_eq!(outputs(&run, "greet")["words"], "Hello from Cubeloom");
    assert!(instance(&run, "greet")["usage"]["peak_memory"].is_string());
    assert_eq!(
        app.expect(0, &["logs", "latest", "repeat", "--stdout"]).out,
        "==> repeat <==\nHello from Cubeloom\n"
    );
}

#[test]
fn without_watch_only_the_id_is_printed() {
    let app = TestApp::new();
    let done = app.expect(0, &["run", HELLO]);
    let id = done.out.trim();
    assert_eq!((id.len(), done.err.as_str()), (26, ""));
    let listed = app.json(0, &["runs"]);
    assert_eq!(listed[0]["id"], id);
    for name in [id, &id[20..], "latest"] {
        assert_eq!(app.json(0, &["runs", "show", name])["run"]["state"], "succeeded");
    }
}

#[test]
fn a_failing_task_shows_its_first_cause() {
    let app = TestApp::new();
    let file = app.pipeline(
        "failing",
        r#"
  - name: bad
    template: indexed
    arguments:
      workers: 3
      command: [sh, -c, "if [ $CUBELOOM_INDEX = 1 ]; then echo no such table >&2; exit 3; fi; sleep 60"]
    resources: {cpu: 100m, memory: 64Mi}
  - {name: after, template: command, needs: [bad], arguments: {command: ["true"]}}
"#,
    );
    let done = app.expect(1, &["run", &file, "--watch"]);
    let id = app.latest()["run"]["id"].as_str().unwrap()[18..].to_owned();
    for part in [
        "worker-1 ended with exit code 3",
        "2 other workers were stopped because of it",
        "│ no such table",
        &format!("cubeloom logs {id} bad"),
        "✗ failing failed in",
    ] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    assert_eq!(states(&app.latest()), [("bad", "failed"), ("after", "not run")]);
    let quiet = app.expect(1, &["run", &file]);
    assert!(quiet.err.contains("no such table"), "{quiet:?}");
}

#[test]
fn parameters_are_read_by_their_types() {
    let app = TestApp::new();
    let file = app.document(
        "parameters",
        r#"parameters:
  date: {type: date}
  sizes: {type: list, default: []}
  rate: {type: number, default: 0.5}
tasks:
  - {name: say, template: command, arguments: {command: [echo, "{{ params.date }} {{ params.sizes | sum }} {{ params.rate + 1 }}"]}}
"#,
    );
    let file = file.as_str();
    let said = |words: &[&str]| {
        app.expect(0, &[&["run", file], words].concat());
        app.expect(0, &["logs", "latest", "say", "--worker", "worker-0", "--stdout"]).out
    };
    assert_eq!(said(&["-p", "date=2026-01-31", "-p", "sizes=[1, 2]"]), "2026-01-31 3 1.5\n");
    let values = app.write("values.toml", "date = \"2026-02-01\"\nsizes = [4]\nrate = 2\n");
    assert_eq!(said(&["--params-file", values.to_str().unwrap(), "-p", "rate=1.5"]), "2026-02-01 4 2.5\n");
    let missing = app.expect(2, &["run", file]);
    assert!(missing.out.contains("-p date=..."), "{missing:?}");
    let wrong = app.expect(2, &["run", file, "-p", "date=yesterday", "-p", "siezs=[]"]);
    assert!(wrong.out.contains("a date such as") && wrong.out.contains("did you mean `sizes`?"), "{wrong:?}");
    assert_eq!(app.json(0, &["runs"]).as_array().unwrap().len(), 2);
}

#[test]
fn check_says_what_this_machine_offers() {
    let app = TestApp::new();
    let found = app.json(0, &["check"]);
    let level = |subject: &str| {
        let finding = found.as_array().unwrap().iter().find(|finding| finding["subject"] == subject);
        finding.unwrap_or_else(|| panic!("{subject}: {found}"))["level"].as_str().unwrap().to_owned()
    };
    for subject in ["templates", "database", "data folder", "python"] {
        assert_eq!(level(subject), "ok");
    }
    assert!(found.to_string().contains("control groups"));
    let elsewhere = app.command(&["check", "--data", "/proc/cubeloom"]).output().unwrap();
    assert_eq!(elsewhere.status.code(), Some(1), "{elsewhere:?}");
}

#[test]
fn the_settings_in_force_are_shown_with_their_origin() {
    let app = TestApp::new();
    app.write("data/cubeloom.toml", "[engine]\nperiod = \"2s\"\n");
    let settings = app.json(0, &["config"]);
    let setting =
        |key: &str| settings.as_array().unwrap().iter().find(|each| each["key"] == key).unwrap().clone();
    assert_eq!(setting("engine.period")["value"], "2s");
    assert!(setting("engine.period")["origin"].as_str().unwrap().ends_with("data/cubeloom.toml"));
    assert_eq!(setting("local.cpu")["origin"], "variable CUBELOOM_LOCAL_CPU");
    app.write("data/cubeloom.toml", "[engine]\nperoid = \"2s\"\n");
    assert!(app.expect(2, &["config"]).err.contains("did you mean `period`?"));
}

#[test]
fn completions_are_printed_for_shells() {
    let app = TestApp::new();
    assert!(app.expect(0, &["completions", "bash"]).out.contains("_cubeloom"));
    assert!(app.expect(0, &["--help"]).out.contains("Exit codes:"));
    assert_eq!(app.expect(2, &["rnu"]).out, "");
}
