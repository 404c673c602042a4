//! Requests that schemathesis generates from the OpenAPI document: none may cause a server error, and every
//! response must conform to the document.

mod chains;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use cubeloom_domain::Clock;
use cubeloom_testkit::clock::SystemClock;
use reqwest::Method;
use serde_json::{Value, json};

use super::identity::help::Browser;
use super::models::register;
use super::pipelines::code::archive;
use super::runs::help::{document, id, until};
use super::support::client::send;
use super::support::{Client, Server, Who};
use crate::crash::variable;
use crate::support::{TestApp, python};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schemathesis");

/// Creates one of each kind of resource that requests name. Returns the values of `schemathesis.toml` by
/// variable.
fn things(server: &Server, ada: &Client) -> Vec<(&'static str, String)> {
    let text =
        document("probe", "tasks:\n  - {name: only, template: command, arguments: {command: ['true']}}\n");
    ada.post("/projects/default/pipelines", &json!({"document": text})).expect(201);
    let run =
        id(&ada.post("/projects/default/runs", &json!({"pipeline": "probe"})).expect(201).json()["run"]);
    until(ada, &run, "succeeded");
    let broken =
        document("broken", "tasks:\n  - {name: only, template: command, arguments: {command: ['false']}}\n");
    let failed =
        id(&ada.post("/projects/default/runs", &json!({"document": broken})).expect(201).json()["run"]);
    until(ada, &failed, "failed");
    let terminals = format!("/runs/{failed}/tasks/only/instances/0/terminals");
    let terminal = id(&ada.post(&terminals, &json!({})).expect(201).json());
    server.user("eve", &["--project", "default", "--role", "editor"]);
    let secret = json!({"name": "pw", "value": "the value of a secret"});
    for list in ["/projects/default/secrets", "/me/secrets"] {
        ada.post(list, &secret).expect(201);
    }
    register(ada, "default", &json!({"name": "probe", "path": "models/probe/1"}));
    let hub = json!({"name": "hub", "host": "registry.example.org", "user": "bot", "secret": "pw"});
    ada.post("/projects/default/registries", &hub).expect(201);
    let made = |path: &str, body: Value| id(&ada.post(path, &body).expect(201).json());
    let hook = made("/projects/default/pipelines/probe/hooks", json!({"name": "nightly"}));
    ada.put("/quotas/groups/research", "*", &json!({})).expect(200);
    ada.put("/limits/hdfs-prod", "*", &json!({"at_once": 9})).expect(200);
    ada.put("/priority-classes/urgent", "*", &json!({"priority": 9})).expect(200);
    ada.put("/projects/default/budgets/2999-01", "*", &json!({"amount": "1"})).expect(201);
    let price = made("/prices", json!({"cluster": "local"}));
    let channel = json!({"name": "ops", "kind": "webhook", "address": "https://127.0.0.1:9/in",
        "rules": {"events": ["run_failed"]}});
    let channel = made("/projects/default/alerts", channel);
    let dated = document(
        "dated",
        "schedule: {cron: '0 0 1 1 *'}\ntasks:\n  - {name: only, template: command, arguments: {command: ['true']}}\n",
    );
    ada.post("/projects/default/pipelines", &json!({"document": dated})).expect(201);
    let range = json!({"first": "2020-01-01", "last": "2020-01-02"});
    let backfill = made("/projects/default/pipelines/dated/backfills", range);
    let token = made("/tokens", json!({"name": "nightly", "scope": "read"}));
    let link = made("/links", json!({"kind": "invite", "note": "for nobody"}));
    Browser::new(server, "eve");
    let own = Browser::new(server, Who::Administrator.name());
    let session = id(&own.get("/me/sessions").expect(200).json()["items"][0]);
    let code = archive(&[(b"main.py", tar::EntryType::Regular, b"print(1)\n")]);
    let upload =
        ada.request(Method::PUT, "/projects/default/code").header("content-type", "application/gzip");
    let code = send(upload.body(code)).expect(200).json();
    vec![
        ("CUBELOOM_RUN", run),
        ("CUBELOOM_HOOK", hook),
        ("CUBELOOM_PRICE", price),
        ("CUBELOOM_CHANNEL", channel),
        ("CUBELOOM_BACKFILL", backfill),
        ("CUBELOOM_OTHER_TOKEN", token),
        ("CUBELOOM_LINK", link),
        ("CUBELOOM_SESSION", session),
        ("CUBELOOM_FAILED_RUN", failed),
        ("CUBELOOM_TERMINAL", terminal),
        ("CUBELOOM_DIGEST", code["digest"].as_str().unwrap().to_owned()),
    ]
}

#[test]
fn every_answer_is_one_that_the_document_allows() {
    let mut app = TestApp::new();
    // No client connects to the terminal, which must stay for the whole test.
    app.set("CUBELOOM_TERMINALS_AWAY", "10m");
    // On a fast machine, its requests exceed the rate limit of an anonymous caller.
    app.set("CUBELOOM_SERVER_RATE", "0");
    let server = Server::start_in(app);
    let administrator = server.as_(Who::Administrator);
    let mut command = schemathesis(&server, &administrator, "schemathesis.toml");
    command.args(["--checks", CHECKS]).arg(format!("{}/api/v1/openapi.json", server.url()));
    command.envs(things(&server, &administrator));
    said_well(&mut command);
    let log = server.log();
    assert!(!log.contains("panicked"), "{log}");
}

/// The stateful phase. Each day (UTC) has its own seed, which a failure prints; `CUBELOOM_TEST_SEED`
/// overrides it.
///
/// A request costs 0.1 core-seconds, nearly all of it in schemathesis, and a chain has at most six requests.
/// `max-examples` in `stateful.toml` bounds the test to 36. 105 requests cost 8.
#[test]
fn every_answer_in_a_chain_of_requests_is_one_that_the_document_allows() {
    let mut app = TestApp::new();
    app.set("CUBELOOM_SERVER_RATE", "0");
    let server = Server::start_in(app);
    let administrator = server.as_(Who::Administrator);
    server.user("eve", &[]);
    let document = server.path("openapi.json");
    fs::write(&document, chains::document().to_string()).unwrap();
    let seed = seed();
    println!("the seed of today: CUBELOOM_TEST_SEED={seed}");
    let mut command = schemathesis(&server, &administrator, "stateful.toml");
    command.args([
        "--checks",
        CHAIN_CHECKS,
        "--seed",
        &seed.to_string(),
        "--url",
        &format!("{}/api/v1", server.url()),
    ]);
    let text = said_well(command.arg(document));
    assert!(text.contains(" passed"), "{text}");
    let log = server.log();
    assert!(!log.contains("panicked"), "{log}");
}

fn seed() -> u64 {
    let today = || SystemClock.now().0.unsigned_abs() / 86_400_000_000;
    variable("CUBELOOM_TEST_SEED").unwrap_or_else(today)
}

/// `st run` on a server, as a person, with a settings file.
fn schemathesis(server: &Server, client: &Client, settings: &str) -> Command {
    let mut command = python::command(&format!("{FOLDER}/requirements.txt"), "st");
    command.args(["--config-file", &format!("{FOLDER}/{settings}"), "run", "--report-dir"]);
    command.arg(server.path("report")).current_dir(server.path(""));
    command.env("CUBELOOM_TOKEN", client.token().unwrap());
    command
}

#[test]
fn whatever_requests_name_is_there() {
    let document: Value = serde_json::from_str(&cubeloom_web::api::document::text()).unwrap();
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let parameters =
        operations.flat_map(|operation| operation["parameters"].as_array().into_iter().flatten());
    let named: BTreeSet<&str> =
        parameters.filter(|one| one["in"] == "path").map(|one| one["name"].as_str().unwrap()).collect();
    let configured = fs::read_to_string(format!("{FOLDER}/schemathesis.toml")).unwrap();
    let missing: Vec<_> =
        named.iter().filter(|name| !configured.contains(&format!("\"path.{name}\" = "))).collect();
    assert!(missing.is_empty(), "name one that is there in schemathesis.toml: {missing:?}");
}

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance,ignored_auth";

/// Without `ignored_auth`, which sends each request three times.
const CHAIN_CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                            response_headers_conformance,response_schema_conformance,use_after_free,\
                            ensure_resource_availability";

#[test]
fn the_document_is_openapi() {
    let mut command = python::command(&format!("{FOLDER}/requirements.txt"), "openapi-spec-validator");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json"));
    said_well(&mut command);
}

fn said_well(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text.into_owned()
}
