//! The Python client, by its own tests, against a server; and its types.

use std::process::Command;

use super::support::{Server, Who};
use crate::support::python;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../clients/python");

fn tool(program: &str) -> Command {
    let mut command = python::command(&format!("{FOLDER}/requirements-test.txt"), program);
    command.current_dir(FOLDER);
    command
}

#[test]
fn the_client_works_against_a_server() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let mut pytest = tool("pytest");
    pytest.env("CUBELOOM_URL", server.url()).env("CUBELOOM_TOKEN", editor.token().unwrap());
    pytest.env("CUBELOOM_TEST_OTHER_TOKEN", server.as_(Who::Viewer).token().unwrap());
    pytest.env("CUBELOOM_TEST_ADMIN_TOKEN", server.as_(Who::Administrator).token().unwrap());
    said_well(&mut pytest);
}

#[test]
fn its_types_agree() {
    said_well(tool("mypy").args(["--cache-dir", "/dev/null", "--config-file", "pyproject.toml"]));
}

#[test]
fn its_models_are_those_of_the_document() {
    let mut check = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/python-models"));
    said_well(check.arg("--check"));
}

fn said_well(command: &mut Command) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
}
