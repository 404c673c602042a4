//! Projects, pipelines, code, templates, hooks.

mod checks;
pub mod code;
mod foreign;
mod grid;
mod hooks;
mod projects;
mod servers;
mod template_folders;
mod templates;
mod versions;

use serde_json::{Value, json};

use super::support::{Answer, Client, Server, Who};

/// The API path of the test project's pipelines.
const PIPELINES: &str = "/projects/default/pipelines";

/// A document of two runnable tasks.
fn document(name: &str, greeting: &str) -> String {
    format!(
        "# kept byte for byte: é\r\napiVersion: cubeloom/v1\nkind: Pipeline\nname: {name}\ndescription: Says {greeting}.\n\
         labels: {{team: Ops}}\nparameters:\n  n: {{type: integer, default: 1, minimum: 0}}\n\
         tasks:\n  - name: hello\n    template: command\n    arguments: {{command: [echo, {greeting}]}}\n\
         \x20 - {{name: after, template: command, needs: [hello], arguments: {{command: [echo, \"n={{{{ params.n }}}}\"]}}}}\n"
    )
}

fn create(client: &Client, name: &str) -> Answer {
    client.post(PIPELINES, &json!({"document": document(name, "hi"), "message": "first"})).expect(201)
}

/// The paths and codes of a list of problems.
fn problems(found: &Value) -> Vec<(String, String)> {
    let one = |problem: &Value| {
        let text = |key: &str| problem[key].as_str().unwrap_or_default().to_owned();
        (text("path"), text("code"))
    };
    found.as_array().expect("a list of problems").iter().map(one).collect()
}

/// A server, and its editor.
fn editor() -> (Server, Client) {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    (server, editor)
}
