//! The pages in a real browser, against the real server: `tests/e2e`, by Node's own test runner.

use std::process::{Command, Stdio};

use crate::support::{TestApp, program};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/e2e");

#[test]
fn pages_work_in_a_browser() {
    // Its folder holds the data folders of the servers that the tests start, so that its end looks for leftovers.
    let app = TestApp::new();
    let folder = app.data();
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut node = Command::new("node");
    node.args(["--test", "--test-concurrency=1", "--test-reporter=spec"]);
    node.current_dir(FOLDER).stdin(Stdio::null());
    node.env("CUBELOOM_TEST_PROGRAM", program::cubeloom()).env("CUBELOOM_TEST_FOLDER", &folder);
    let output = node.output().expect("node starts: tools/setup test says what is missing");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}
