//! The programs of `tools/`, run through their own tests.

use std::process::Command;

#[test]
fn the_tools_do_what_they_say() {
    let mut python = Command::new("/usr/bin/python3");
    python.args(["-B", "-m", "unittest", "discover", "--start-directory", "tools"]);
    let output = python.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("python3 starts");
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !report.contains("Ran 0 tests"), "{report}");
}
