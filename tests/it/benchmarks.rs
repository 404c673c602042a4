//! The benchmarks' records: what compares them, and the page that shows the newest.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn python(arguments: &[&str]) {
    // Compiled files would lie among the sources.
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
