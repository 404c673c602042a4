//! Requests that schemathesis makes from the OpenAPI document: none may be a fault of the server's, and every answer
//! is one that the document allows.

use std::process::Command;

use super::support::{Server, Who};
use crate::support::python;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schemathesis");

#[test]
fn every_answer_is_one_that_the_document_allows() {
    let server = Server::start();
    let administrator = server.as_(Who::Administrator);
    let task = "  - {name: only, template: command, arguments: {command: ['true']}}\n";
    let run = server.json(0, &["run", &server.pipeline("probe", task)]);
    let mut command = python::command(&format!("{FOLDER}/requirements.txt"), "st");
    command.args(["--config-file", &format!("{FOLDER}/schemathesis.toml"), "run"]);
    command.args(["--checks", CHECKS, "--report-dir"]).arg(server.path("report"));
    command.arg(format!("{}/api/v1/openapi.json", server.url()));
    command.env("CUBELOOM_TOKEN", administrator.token().unwrap());
    command.env("CUBELOOM_RUN", run["run"]["id"].as_str().unwrap());
    command.current_dir(server.path(""));
    said_well(&mut command);
    let log = server.log();
    assert!(!log.contains("panicked"), "{log}");
}

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance,ignored_auth";

#[test]
fn the_document_is_openapi() {
    let mut command = python::command(&format!("{FOLDER}/requirements.txt"), "openapi-spec-validator");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json"));
    said_well(&mut command);
}

fn said_well(command: &mut Command) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
}
