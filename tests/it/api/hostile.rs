//! Abusive clients that no other test covers.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use reqwest::Method;
use serde_json::{Value, json};

use super::models::register;
use super::policy::filled;
use super::runs::help::{Events, document, start, task, until};
use super::support::client::send;
use super::support::{Server, Who};
use crate::support::wait_for;

/// The lists of the OpenAPI document that have at most 200 items a page, and whether each has several pages.
fn lists() -> Vec<(String, bool)> {
    let document: Value = serde_json::from_str(&cubeloom_web::api::document::text()).unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let parameters = item["get"]["parameters"].as_array()?;
        let named = |name: &str| parameters.iter().find(|one| one["name"] == name);
        (named("limit")?["schema"]["maximum"] == 200).then(|| (path.clone(), named("cursor").is_some()))
    };
    document["paths"].as_object().unwrap().iter().filter_map(of_path).collect()
}

#[test]
fn a_page_of_ten_thousand_items_is_refused_and_the_field_is_named() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    // Creates the tokens to list.
    server.as_(Who::Viewer);
    let text = document("walk", &format!("tasks:\n{}", task("only", "true", "")));
    ada.post("/projects/default/pipelines", &json!({"document": text})).expect(201);
    let run = start(&ada, &text);
    until(&ada, &run, "succeeded");
    register(&ada, "default", &json!({"name": "walk", "path": "models/walk/1"}));
    let lists = lists();
    assert!(lists.len() > 25, "{lists:?}");
    for (path, goes_on) in lists {
        let list = filled(&path, &run);
        for limit in ["10000", "201", "0", "-1", "many"] {
            let problem = ada.get(&format!("{list}?limit={limit}")).expect(422).problem("invalid");
            assert_eq!(problem["problems"][0]["path"], "/limit", "{list} {limit}: {problem}");
        }
        let page = ada.get(&format!("{list}?limit=200")).expect(200).json();
        assert!(page["items"].is_array(), "{list}: {page}");
        if goes_on {
            let problem =
                ada.get(&format!("{list}?cursor=no-cursor-of-ours!")).expect(422).problem("invalid");
            assert_eq!(problem["problems"][0]["path"], "/cursor", "{list}: {problem}");
        }
    }
}

#[test]
fn a_folder_of_ten_thousand_files_comes_in_pages_and_is_opened_as_one() {
    let server = Server::start();
    let viewer = server.as_(Who::Viewer);
    let folder = server.data().join("workspace/default/many");
    fs::create_dir_all(&folder).unwrap();
    let mut wanted: Vec<String> = (0..10_000).map(|at| format!("f{at:05}")).collect();
    wanted.iter().for_each(|name| drop(fs::File::create(folder.join(name)).unwrap()));
    let list = "/projects/default/volumes/workspace/files?path=many&limit=200";
    let mut found = Vec::new();
    let mut cursor = String::new();
    while found.len() < 10_000 {
        let page = viewer.get(&format!("{list}&cursor={cursor}")).expect(200).json();
        let names = page["items"].as_array().unwrap().iter();
        found.extend(names.map(|one| one["name"].as_str().unwrap().to_owned()));
        cursor = page["next_cursor"].as_str().unwrap_or_default().to_owned();
        assert_eq!(cursor.is_empty(), found.len() == 10_000, "{}", found.len());
    }
    wanted.sort();
    assert_eq!(found, wanted, "each of them once");
    let page = viewer.get("page:/projects/default/storage?path=many").expect(200).text();
    assert!(page.contains("f00000") && page.contains("rel=\"next\"") && !page.contains("f09999"));
    assert!(page.len() < 1_000_000, "a page of {} bytes", page.len());
}

#[test]
fn a_body_that_cannot_be_read_is_told_so() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let post = |body: Vec<u8>| {
        let request = editor.request(Method::POST, "/projects/default/validate");
        send(request.header("content-type", "application/json").body(body))
    };
    post(b"{\"document\": \"\xff\xfe\"}".to_vec()).expect(400).problem("malformed");
    post(b"{\"document\": ".to_vec()).expect(400).problem("malformed");
    let deep = format!("{{\"document\": {}1{}}}", "[".repeat(50_000), "]".repeat(50_000));
    let answer = post(deep.into_bytes());
    let refused = answer.expect(400).problem("malformed");
    assert!(refused["detail"].as_str().unwrap().contains("more than 64 deep"), "{refused}");
    // The server goes on.
    editor.get("/health").expect(200);
}

#[test]
fn a_document_that_is_deep_or_never_ends_is_refused() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let deep = format!("a: {}1{}", "[".repeat(20_000), "]".repeat(20_000));
    let bomb = "a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\n\
                d: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d]\n\
                f: &f [*e, *e, *e, *e, *e, *e, *e, *e]\ng: [*f, *f, *f, *f, *f, *f, *f, *f]\n";
    for document in [deep.as_str(), bomb] {
        let answer = editor.post("/projects/default/runs", &json!({"document": document})).expect(422);
        answer.problem("invalid");
        assert!(answer.body.len() < 100_000, "a mistake does not make a large answer");
    }
}

#[test]
fn who_reads_slowly_keeps_nobody_waiting() {
    let server = Server::start();
    let task = "  - {name: loud, template: command, arguments: {command: [sh, -c, 'seq 1 400000']}}\n";
    let run = server.json(0, &["run", &server.pipeline("loud", task)]);
    let run = run["run"]["id"].as_str().unwrap();
    let viewer = server.as_(Who::Viewer);
    let path = format!("/runs/{run}/logs/events?task=loud");
    let before = resident(server.pid());
    let slow: Vec<TcpStream> = (0..40)
        .map(|_| {
            let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
            let token = viewer.token().unwrap();
            let host = server.url().trim_start_matches("http://").to_owned();
            write!(
                stream,
                "GET /api/v1{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n"
            )
            .unwrap();
            // These clients read the beginning, and then nothing.
            stream.read_exact(&mut [0; 16]).unwrap();
            stream
        })
        .collect();
    // A reading client gets everything meanwhile, so the data for the others has piled up.
    let logs = Events::open(&viewer, &path, None);
    logs.find(|event| event.data.to_string().contains("400000"));
    let grown = resident(server.pid()).saturating_sub(before);
    assert!(grown < 64 << 10, "40 slow readers cost {grown} KiB");
    drop(slow);
}

/// The resident memory of a process, in KiB.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_connection_that_says_nothing_is_not_kept_for_ever_by_others() {
    let server = Server::start();
    let address = server.url().trim_start_matches("http://").to_owned();
    let silent: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let nobody = server.as_(Who::Anonymous);
    wait_for("an answer beside silent connections", || nobody.get("/health").status == 200);
    drop(silent);
}
