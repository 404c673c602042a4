//! Downloads and uses of secrets in the audit log: who accessed them, never a value, and bursts are recorded
//! whole.

use reqwest::Method;
use serde_json::{Value, json};

use super::help::audited;
use crate::api::runs::help::{document, start, task, until};
use crate::api::support::client::send;
use crate::api::support::{Client, Server, Who};

const VALUE: &str = "tops3cret-of-the-project";

/// The logged downloads, oldest first: action, subject, object and person.
fn downloads(ada: &Client) -> Vec<(String, String, String, String)> {
    let mut all: Vec<Value> = ["file.", "log."].into_iter().flat_map(|kind| audited(ada, kind)).collect();
    all.sort_by(|a, b| a["id"].as_str().cmp(&b["id"].as_str()));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let part = |entry: &Value| {
        let after = &entry["after"];
        format!("{} {}", text(&after["of"]), text(after.get("path").unwrap_or(&after["task"])))
    };
    all.iter()
        .map(|entry| {
            assert_eq!(entry["project"], "default", "{entry}");
            (text(&entry["action"]), text(&entry["subject"]), part(entry), text(&entry["user"]))
        })
        .collect()
}

#[test]
fn what_leaves_the_server_is_in_the_log_and_what_is_only_looked_at_is_not() {
    let server = Server::start();
    let (ada, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let line = "echo 'a,b' > $CUBELOOM_RUN_DIR/table.csv; echo said";
    let run = start(&editor, &document("left", &format!("tasks:\n{}", task("a", line, ""))));
    until(&editor, &run, "succeeded");
    let vera = server.as_(Who::Viewer);
    let volume = "/projects/default/volumes/workspace";
    let written = editor.request(Method::PUT, &format!("{volume}/file?path=d/in.txt")).body("hello");
    send(written).expect(204);
    // Lists, followed logs, missing files and `HEAD` requests are no downloads.
    for path in
        [format!("/runs/{run}/files"), format!("/runs/{run}/logs/text?task=a"), format!("{volume}/files")]
    {
        vera.get(&path).expect(200);
    }
    vera.get(&format!("/runs/{run}/file?path=none")).expect(404);
    send(vera.request(Method::HEAD, &format!("/runs/{run}/file?path=table.csv"))).expect(200);
    server.as_(Who::Stranger).get(&format!("/runs/{run}/file?path=table.csv")).expect(404);
    assert_eq!(downloads(&ada), []);
    let file = vera.get(&format!("/runs/{run}/file?path=table.csv")).expect(200);
    let same = vera.request(Method::GET, &format!("/runs/{run}/file?path=table.csv"));
    send(same.header("if-none-match", file.etag())).expect(304);
    for path in [
        format!("/runs/{run}/preview?path=table.csv"),
        format!("/runs/{run}/logs/download?task=a"),
        format!("{volume}/file?path=d/in.txt&inline=true"),
        format!("{volume}/archive?path=d"),
        format!("{volume}/preview?path=d/in.txt"),
    ] {
        vera.get(&path).expect(200);
    }
    let entry = |action: &str, subject: &str, part: &str| {
        (action.to_owned(), subject.to_owned(), part.to_owned(), "vera".to_owned())
    };
    assert_eq!(
        downloads(&ada),
        [
            entry("file.download", &run, "run table.csv"),
            entry("file.preview", &run, "run table.csv"),
            entry("log.download", &run, "run a"),
            entry("file.download", "workspace", "volume d/in.txt"),
            entry("file.download", "workspace", "volume d"),
            entry("file.preview", "workspace", "volume d/in.txt"),
        ]
    );
    let first = audited(&ada, "file.download").pop().unwrap();
    assert_eq!(first["after"], json!({"of": "run", "path": "table.csv", "bytes": 4}));
}

#[test]
fn a_burst_of_downloads_is_counted_whole_also_when_the_server_ends() {
    const MANY: u64 = 70;
    let server = Server::start();
    let (ada, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let file = "/projects/default/volumes/workspace/file?path=in.txt";
    send(editor.request(Method::PUT, file).body("hello")).expect(204);
    for _ in 0..MANY {
        editor.get(file).expect(200);
    }
    let written = audited(&ada, "file.download").len();
    // Thirty per minute.
    assert!((30..=60).contains(&written), "{written}");
    server.stop();
    server.run();
    let log = audited(&server.as_(Who::Administrator), "file.download");
    let (counts, single): (Vec<&Value>, Vec<&Value>) =
        log.iter().partition(|entry| entry["after"].get("more").is_some());
    let more: u64 = counts.iter().map(|entry| entry["after"]["more"].as_u64().unwrap()).sum();
    assert_eq!(single.len() as u64 + more, MANY, "{counts:?}");
    assert_eq!((&counts[0]["user"], &counts[0]["project"]), (&json!("emil"), &json!("default")));
    assert!(counts[0]["after"]["minute"].as_str().unwrap().ends_with(":00.000000Z"), "{counts:?}");
}

#[test]
fn the_use_of_a_secret_is_in_the_log_once_for_each_run() {
    let server = Server::start();
    let (ada, owner, editor) =
        (server.as_(Who::Administrator), server.as_(Who::Owner), server.as_(Who::Editor));
    for name in ["shared", "other"] {
        owner.post("/projects/default/secrets", &json!({"name": name, "value": VALUE})).expect(201);
    }
    editor.post("/me/secrets", &json!({"name": "shared", "value": VALUE})).expect(201);
    // The first attempt fails, and two tasks use the same secret.
    let once = "test -e $CUBELOOM_RUN_DIR/tried || { touch $CUBELOOM_RUN_DIR/tried; exit 1; }";
    let secrets = "    secrets: [shared]\n";
    let retry = "    retry: {attempts: 2, on: [error], backoff: {initial: 10ms}}\n";
    let text = document(
        "uses",
        &format!(
            "tasks:\n{}{}{}",
            task("first", once, &format!("{secrets}{retry}")),
            task("second", "true", &format!("{secrets}    needs: [first]\n")),
            task("third", "true", "    secrets: [shared, other]\n    needs: [second]\n"),
        ),
    );
    let (run, own) = (start(&owner, &text), start(&editor, &text));
    until(&owner, &run, "succeeded");
    until(&editor, &own, "succeeded");
    let mut uses: Vec<Value> = audited(&ada, "secret.use")
        .into_iter()
        .map(|entry| {
            let (user, via, address) = (&entry["user"], &entry["via"], &entry["address"]);
            assert_eq!((&entry["project"], via, address), (&json!("default"), &json!("run"), &json!("")));
            json!([user, entry["subject"], entry["after"]])
        })
        .collect();
    uses.sort_by_key(ToString::to_string);
    assert_eq!(
        uses,
        [
            json!(["emil", "other", {"of": "project", "run": own, "task": "third"}]),
            json!(["emil", "shared", {"of": "user", "run": own, "task": "first"}]),
            json!(["olga", "other", {"of": "project", "run": run, "task": "third"}]),
            json!(["olga", "shared", {"of": "project", "run": run, "task": "first"}]),
        ]
    );
    assert!(!ada.get("/audit?format=ndjson").expect(200).text().contains(VALUE));
    // Deleting the run deletes the file and keeps the entries.
    owner.delete(&format!("/runs/{run}"), "*").expect(204);
    assert_eq!(audited(&ada, "secret.use").len(), 4);
}
