//! Two servers on one database.

use cubeloom_testkit::postgres::Database;
use serde_json::json;

use crate::api::runs::help::Events;
use crate::api::support::{Client, Server, Who};
use crate::support::TestApp;

const PATH: &str = "/projects/default/pipelines/shared";

fn text(word: &str) -> String {
    format!(
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: shared\ntasks:\n  - {{name: a, template: command, arguments: {{command: [echo, {word}]}}}}\n"
    )
}

fn server(database: &Database) -> Server {
    let mut app = TestApp::new();
    app.set("CUBELOOM_DATABASE_URL", database.url());
    Server::start_in(app)
}

fn save(client: &Client, version: u32) {
    let body = json!({"document": text(&format!("v{version}")), "message": format!("change {version}")});
    let saved = client.put(PATH, &format!("\"{}\"", version - 1), &body).expect(200).json();
    assert_eq!(saved["version"], version, "{saved}");
}

#[test]
fn who_looks_at_a_pipeline_on_another_server_is_told_of_each_version_once() {
    let database = Database::create();
    let (here, there) = (server(&database), server(&database));
    let editor = here.as_(Who::Editor);
    let other = there.with_token(editor.token().map(ToOwned::to_owned));
    editor.post("/projects/default/pipelines", &json!({"document": text("v1")})).expect(201);
    let streams = [&editor, &other].map(|client| Events::open(client, "/projects/default/events", None));
    for stream in &streams {
        assert_eq!(stream.next().name, "snapshot");
    }
    save(&editor, 2);
    save(&other, 3);
    save(&editor, 4);
    for stream in &streams {
        for version in 2..=4 {
            let told = stream.find(|event| event.name == "pipeline").data;
            let expected = json!([version, "shared", Who::Editor.name(), format!("change {version}")]);
            assert_eq!(json!([told["version"], told["name"], told["user"], told["message"]]), expected);
        }
    }
}

#[test]
fn a_version_that_was_stored_while_nobody_could_be_told_is_told_afterwards() {
    let database = Database::create();
    let server = server(&database);
    let editor = server.as_(Who::Editor);
    editor.post("/projects/default/pipelines", &json!({"document": text("v1")})).expect(201);
    let stream = Events::open(&editor, "/projects/default/events", None);
    assert_eq!(stream.next().name, "snapshot");
    save(&editor, 2);
    let told = || stream.find(|event| event.name == "pipeline").data;
    assert_eq!(told()["version"], 2);
    // Simulates a version of another server whose notification was lost with the connection.
    database.execute(
        "INSERT INTO pipeline_versions (project, name, version, document, digest, user_name, created_at, message)
         SELECT project, name, 3, document, 'other', 'grace', created_at, 'unheard' FROM pipeline_versions
         WHERE name = 'shared' AND version = 2;
         UPDATE pipelines SET version = 3 WHERE name = 'shared';",
    );
    database.execute(
        "DO $$ BEGIN
         IF (SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = current_database() AND query LIKE 'LISTEN%') = 0
         THEN RAISE EXCEPTION 'nobody listens'; END IF; END $$",
    );
    let unheard = told();
    assert_eq!(
        json!([unheard["version"], unheard["user"], unheard["message"]]),
        json!([3, "grace", "unheard"])
    );
    // Later notifications arrive again.
    save(&editor, 4);
    assert_eq!(told()["version"], 4);
}
