//! The Python client: its own tests against a server, and its types.

use std::fs;
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
fn it_is_installed_as_its_readme_says_and_the_example_there_runs() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let home = server.path("venv");
    let venv = ["-m", "venv", home.to_str().unwrap()];
    said_well(Command::new("/usr/bin/python3").args(venv));
    let python = || {
        let mut command = Command::new(home.join("bin/python"));
        command.current_dir(server.path("")).env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    // Building leaves folders beside the sources, so it uses a copy.
    let copy = server.path("cubeloom-python");
    said_well(Command::new("cp").arg("-r").arg(FOLDER).arg(&copy));
    said_well(python().args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).arg(&copy));
    let readme = fs::read_to_string(format!("{FOLDER}/README.md")).unwrap();
    let (_, example) = readme.split_once("```python\n").unwrap();
    let example = server.write("example.py", example.split_once("```").unwrap().0);
    let mut run = python();
    run.arg(example).env("CUBELOOM_URL", server.url()).env("CUBELOOM_TOKEN", editor.token().unwrap());
    let said = said_well(&mut run);
    assert_eq!(said, "word 1\nword 2\nword 3\nword 4\n{'words': 4}\n");
    assert_eq!(fs::read_to_string(server.path("words.txt")).unwrap(), "1\n2\n3\n4\n");
    // The package is marked as typed for editors and type checkers.
    let typed =
        "import cubeloom, pathlib; print((pathlib.Path(cubeloom.__file__).parent / 'py.typed').exists())";
    assert_eq!(said_well(python().args(["-c", typed])), "True\n");
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

fn said_well(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text.into_owned()
}
