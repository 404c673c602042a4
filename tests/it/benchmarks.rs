//! The benchmark records: their comparison, and the page that shows the newest.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::TestApp;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn python(arguments: &[&str]) {
    // Avoids compiled files among the sources.
    let done = Command::new("/usr/bin/python3").arg("-B").args(arguments).current_dir(ROOT).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn the_tool_that_compares_benchmarks_keeps_its_rules() {
    python(&["-m", "unittest", "discover", "--start-directory", "tools/bench"]);
}

#[test]
fn the_page_shows_the_newest_record() {
    python(&["tools/bench", "page", "--check"]);
}

/// The worker sandbox changes; benchmark cases that run as local processes must keep working. Takes 3
/// core-seconds.
#[test]
fn a_case_on_this_machines_processes_runs() {
    // Not below /tmp: each attempt has its own.
    let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
    // Workers run under their own uid and must be able to enter it.
    fs::set_permissions(scratch.path(), Permissions::from_mode(0o755)).unwrap();
    let app = TestApp::new();
    let printed =
        app.expect(0, &["bench", "--one", "noop", "--scratch", scratch.path().to_str().unwrap()]).out;
    assert!(printed.contains("added, a task"), "{printed}");
}
