//! The exported audit log: filtered like the pages, complete, safe in a spreadsheet, and restricted to its
//! readers.

use reqwest::Method;
use serde_json::{Value, json};

use super::help::{audited, sign_in};
use crate::api::support::client::send;
use crate::api::support::{Answer, Client, Server, Who};

fn lines(answer: &Answer) -> Vec<Value> {
    answer.text().lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// A CSV table as parsed by Python's library.
fn table(text: &str) -> Vec<Vec<String>> {
    const READ: &str = "import csv, io, json, sys\n\
                        text = io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8', newline='')\n\
                        print(json.dumps(list(csv.reader(text, strict=True))))";
    let mut child = std::process::Command::new("python3")
        .args(["-I", "-c", READ])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn a_table_is_harmless_and_has_what_the_filter_leaves() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let anybody = server.as_(Who::Anonymous);
    for name in ["=cmd|'/c calc'!a1", "+1", "@sum(a1)", "-2+3", "a,\"b\"", "plain"] {
        sign_in(&anybody, name, "not a password").expect(401);
    }
    let answer = ada.get("/audit?format=csv&action=session.refuse").expect(200);
    assert_eq!(answer.header("content-type"), "text/csv; charset=utf-8");
    assert!(answer.header("content-disposition").starts_with("attachment; filename=\"audit-2"), "{answer:?}");
    let rows = table(&answer.text());
    let head = ["id", "at", "user", "via", "address", "project", "action", "subject", "before", "after"];
    assert_eq!(rows[0], head);
    let mut subjects: Vec<&str> = rows[1..].iter().map(|row| row[7].as_str()).collect();
    subjects.reverse();
    // A number is no formula.
    assert_eq!(subjects, ["'=cmd|'/c calc'!a1", "+1", "'@sum(a1)", "'-2+3", "a,\"b\"", "plain"]);
    let accepting = |kind: &str| {
        send(ada.request(Method::GET, "/audit?text=SUM&action=session.").header("accept", kind)).expect(200)
    };
    assert_eq!(table(&accepting("text/csv").text()).len(), 2);
    let found = lines(&accepting("application/x-ndjson"));
    assert_eq!((found.len(), &found[0]["subject"]), (1, &json!("@sum(a1)")));
    assert_eq!(accepting("application/json").json()["items"], json!(found));
    // Each export is logged itself, with its filters.
    let exports = audited(&ada, "audit.export");
    assert_eq!(exports.len(), 3, "{exports:?}");
    assert_eq!((&exports[0]["subject"], &exports[0]["user"]), (&json!("ndjson"), &json!("ada")));
    assert_eq!(exports[0]["after"], json!({"action": "session.", "text": "SUM"}));
    let wrong = ada.get("/audit?format=xml").expect(422).problem("invalid");
    assert_eq!(wrong["problems"][0]["path"], "/format", "{wrong}");
}

#[test]
fn a_file_has_every_entry_however_many_there_are() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    server.sql(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1234) \
         INSERT INTO audit (id, at, user_name, via, address, project, action, subject) \
         SELECT printf('01h%023d', i), 1700000000000000 + i * 1000000, 'bulk', 'session', '', \
         CASE WHEN i % 2 = 0 THEN 'default' END, 'thing.update', 'thing-' || i FROM n",
    );
    let found = lines(&ada.get("/audit?format=ndjson&user=bulk").expect(200));
    let subjects: Vec<&str> = found.iter().map(|entry| entry["subject"].as_str().unwrap()).collect();
    let expected: Vec<String> = (1..=1234).rev().map(|n| format!("thing-{n}")).collect();
    assert_eq!(subjects, expected, "the newest first, each once");
    assert_eq!(table(&ada.get("/audit?format=csv&user=bulk").expect(200).text()).len(), 1235);
    let period = "since=2023-11-14T22:13:30Z&until=2023-11-14T22:13:40Z";
    let found = lines(&ada.get(&format!("/audit?format=ndjson&user=bulk&{period}")).expect(200));
    assert_eq!(found.len(), 10);
    // Owners export only their project's log.
    let owner = server.as_(Who::Owner);
    let of_project = |client: &Client| {
        client.get("/projects/default/audit?format=ndjson&user=bulk&project=vision").expect(200)
    };
    let found = lines(&of_project(&owner));
    assert!(found.len() == 617 && found.iter().all(|entry| entry["project"] == "default"));
    let export = audited(&ada, "audit.export")[0].clone();
    assert_eq!((&export["user"], &export["project"]), (&json!("olga"), &json!("default")));
    owner.get("/audit?format=csv").expect(403);
    server.as_(Who::Editor).get("/projects/default/audit?format=csv").expect(403);
    server.as_(Who::Stranger).get("/projects/default/audit?format=csv").expect(404);
}

#[test]
fn the_page_links_to_the_files_of_what_it_shows() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let page = ada.get("page:/audit?action=session.&text=a%26b&since=2026-03-01T09:30").expect(200).text();
    let query = "action=session.&#38;text=a%26b&#38;since=2026-03-01T09%3A30%3A00.000000Z";
    for format in ["csv", "ndjson"] {
        let link = format!("href=\"/api/v1/audit?format={format}&#38;{query}\"");
        assert!(page.contains(&link), "{link} is not in {page}");
    }
    assert!(page.contains("No results") && page.contains("Clear filter"), "{page}");
    let of_project = ada.get("page:/projects/default/audit").expect(200).text();
    assert!(of_project.contains("href=\"/api/v1/projects/default/audit?format=csv\""), "{of_project}");
}
