//! The pages in a real browser, against the real server: one test per file of `tests/e2e`, run by Node's test
//! runner.

use std::process::{Command, Stdio};

use crate::support::{TestApp, program};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/e2e");

/// One test per file with its name, and a check that the list is complete.
macro_rules! files {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            passes(stringify!($name));
        })*

        #[test]
        fn every_file_is_run() {
            let mut known: Vec<String> = vec![$(file(stringify!($name))),*];
            known.sort();
            assert_eq!(there(), known);
        }
    };
}

files![
    advice,
    alerts,
    audit,
    canvas,
    canvas_arrange,
    clusters,
    compare,
    connection,
    critical_path,
    device,
    dialogs,
    editor,
    editor_load,
    editor_runs,
    editor_safe,
    effective,
    finder,
    form,
    form_parts,
    fresh,
    grid,
    gpu_history,
    home,
    import,
    journey,
    keyboard,
    logs,
    logs_long,
    me,
    models,
    monitoring,
    oidc,
    outlook,
    outputs,
    pages,
    parameters,
    people,
    pipelines,
    places,
    plots,
    preferences,
    projects,
    quotas,
    roles,
    run,
    run_actions,
    run_needs,
    run_text,
    schedule,
    search,
    secrets,
    session,
    sizing,
    sort,
    steady,
    steady_live,
    storage,
    sub_runs,
    task_usage,
    terminal,
    text_view,
    together,
    usage,
    waits,
];

fn file(name: &str) -> String {
    format!("{}.test.mjs", name.replace('_', "-"))
}

/// The files of the folder, in order.
fn there() -> Vec<String> {
    let entries = std::fs::read_dir(FOLDER).expect("the folder of the browser's tests");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut files: Vec<String> = names.filter(|name| name.ends_with(".test.mjs")).collect();
    files.sort();
    files
}

fn passes(name: &str) {
    // Contains the data folders of the servers that the file starts, so that its end checks for leftovers.
    let app = TestApp::new();
    let folder = app.data();
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=spec", &file(name)]);
    node.current_dir(FOLDER).stdin(Stdio::null());
    node.env("CUBELOOM_TEST_PROGRAM", program::cubeloom()).env("CUBELOOM_TEST_FOLDER", &folder);
    let output = node.output().expect("node starts: tools/setup test says what is missing");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}
