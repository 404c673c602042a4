//! Templates are installed one by one, so each has its own copies of the shared Python files.

use std::process::Command;

use super::rig::shipped;

#[test]
fn the_copies_of_the_python_files_are_equal() {
    let done = Command::new("sh").arg(shipped("task-templates/python/copies.sh")).arg("--check").output();
    let done = done.expect("a shell");
    assert!(done.status.success(), "run task-templates/python/copies.sh: {done:?}");
}
