//! The search across projects: what it finds, and for whom.

use serde_json::{Value, json};

use super::models::register;
use super::runs::help::{document, id, task, until};
use super::support::{Client, Server, Who};

const KINDS: [&str; 4] = ["projects", "pipelines", "runs", "models"];

#[track_caller]
fn search(client: &Client, query: &str) -> Value {
    client.get(&format!("/search?{query}")).expect(200).json()
}

/// A field of each result of a kind.
fn each<'v>(found: &'v Value, kind: &str, field: &str) -> Vec<&'v str> {
    found[kind].as_array().unwrap().iter().map(|one| one[field].as_str().unwrap()).collect()
}

#[track_caller]
fn nothing(found: &Value) {
    assert!(KINDS.iter().all(|kind| found[kind] == json!([])), "{found}");
}

#[track_caller]
fn store(client: &Client, project: &str, name: &str) {
    let text = document(name, &format!("tasks:\n{}", task("say", "true", "")));
    client.post(&format!("/projects/{project}/pipelines"), &json!({"document": text})).expect(201);
}

#[test]
fn all_kinds_are_found_by_name_and_runs_also_by_id() {
    let server = Server::start();
    let (editor, viewer) = (server.as_(Who::Editor), server.as_(Who::Viewer));
    for name in ["train-digits", "digits-old"] {
        store(&editor, "default", name);
    }
    register(&editor, "default", &json!({"name": "digits", "path": "models/digits/1"}));
    let body = json!({"pipeline": "train-digits"});
    let run = id(&editor.post("/projects/default/runs", &body).expect(201).json()["run"]);
    until(&editor, &run, "succeeded");

    let found = search(&viewer, "q=DIGITS");
    assert_eq!(each(&found, "pipelines", "name"), ["digits-old", "train-digits"], "{found}");
    assert_eq!(each(&found, "models", "name"), ["digits"], "{found}");
    assert_eq!(each(&found, "runs", "id"), [&run], "{found}");
    assert_eq!(
        (&found["runs"][0]["state"], &found["runs"][0]["project"]),
        (&json!("succeeded"), &json!("default"))
    );
    assert_eq!(each(&search(&viewer, "q=tdg"), "pipelines", "name"), ["train-digits"]);
    assert_eq!(each(&search(&viewer, "q=defa"), "projects", "name"), ["default"]);
    for part in [run.as_str(), &run[..20], &run[18..]] {
        assert_eq!(each(&search(&viewer, &format!("q={part}")), "runs", "id"), [&run], "{part}");
    }
    // A run of a document that is not stored.
    assert_eq!(each(&search(&viewer, "q=make"), "runs", "pipeline"), ["make"]);
    for none in ["%25", "stigid", "no+such+thing"] {
        nothing(&search(&viewer, &format!("q={none}")));
    }

    let first = search(&viewer, "");
    assert_eq!(each(&first, "pipelines", "name"), ["train-digits", "digits-old"], "{first}");
    assert_eq!(each(&first, "runs", "pipeline"), ["train-digits", "make"], "{first}");
    assert_eq!((&first["projects"], &first["models"]), (&json!([]), &json!([])));
}

#[test]
fn projects_that_a_person_does_not_see_yield_nothing() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    for project in ["vision", "other"] {
        ada.post("/projects", &json!({"name": project})).expect(201);
    }
    store(&ada, "vision", "secret-plan");
    let run = register(&ada, "vision", &json!({"name": "secret-model", "path": "models/secret/1"}));
    server.user("mallory", &["--project", "other", "--role", "owner"]);
    server.user("vito", &["--project", "vision", "--role", "viewer"]);
    let of = |name: &str, rights: &[&str]| server.with_token(Some(server.token(name, rights)));
    let (mallory, vito) = (of("mallory", &["--scope", "admin"]), of("vito", &["--scope", "read"]));
    let elsewhere = of("ada", &["--scope", "admin", "--project", "other"]);
    for who in [&mallory, &elsewhere, &server.as_(Who::Viewer), &server.as_(Who::Stranger)] {
        for text in ["secret", "secret-plan", "vision", "make", &run, &run[..12], &run[18..], ""] {
            nothing(&search(who, &format!("q={text}&project=vision")));
        }
    }
    server.as_(Who::Anonymous).get("/search?q=secret").expect(401);

    let found = search(&vito, "q=secret");
    assert_eq!(each(&found, "pipelines", "name"), ["secret-plan"], "{found}");
    assert_eq!(each(&found, "models", "name"), ["secret-model"], "{found}");
    assert_eq!(each(&search(&vito, &format!("q={}", &run[18..])), "runs", "id"), [&run]);
    assert_eq!(each(&search(&vito, "q=vision"), "projects", "name"), ["vision"]);
}

#[test]
fn a_token_of_one_project_finds_only_what_is_in_it() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    ada.post("/projects", &json!({"name": "default-2"})).expect(201);
    for project in ["default", "default-2"] {
        store(&ada, project, "train");
    }
    let rights = ["--scope", "read", "--project", "default-2"];
    let bound = server.with_token(Some(server.token(Who::Administrator.name(), &rights)));
    for query in ["q=train", "q=train&project=default", ""] {
        assert_eq!(each(&search(&bound, query), "pipelines", "project"), ["default-2"], "{query}");
    }
    assert_eq!(each(&search(&bound, "q=default"), "projects", "name"), ["default-2"]);
    assert_eq!(each(&search(&ada, "q=default"), "projects", "name"), ["default", "default-2"]);
    for (here, order) in [("default", ["default", "default-2"]), ("default-2", ["default-2", "default"])] {
        let found = search(&ada, &format!("q=train&project={here}"));
        assert_eq!(each(&found, "pipelines", "project"), order);
    }
}

#[test]
fn there_are_few_results_of_each_kind() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    for n in 0..10 {
        store(&editor, "default", &format!("train-{n}"));
    }
    assert_eq!(each(&search(&editor, "q=train"), "pipelines", "name").len(), 8);
    assert_eq!(each(&search(&editor, "q="), "pipelines", "name").len(), 8);
    nothing(&search(&editor, &format!("q={}", "train".repeat(1000))));
}
