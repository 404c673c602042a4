//! What a server has to bear that no other test asks of it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::support::client::send;
use super::support::{Server, Who};
use crate::support::wait_for;

#[test]
fn a_page_of_ten_thousand_items_is_refused_and_the_field_is_named() {
    let server = Server::start();
    let viewer = server.as_(Who::Viewer);
    for list in ["/runs", "/projects", "/projects/default/runs", "/projects/default/pipelines"] {
        for limit in ["10000", "0", "-1", "many"] {
            let problem = viewer.get(&format!("{list}?limit={limit}")).expect(422).problem("invalid");
            assert_eq!(problem["problems"][0]["path"], "/limit", "{list} {limit}: {problem}");
        }
        viewer.get(&format!("{list}?limit=200")).expect(200);
        let problem = viewer.get(&format!("{list}?cursor=no-cursor-of-ours!")).expect(422).problem("invalid");
        assert_eq!(problem["problems"][0]["path"], "/cursor", "{list}: {problem}");
    }
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
    // And it goes on.
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
            // They read the beginning, and then nothing.
            stream.read_exact(&mut [0; 16]).unwrap();
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_secs(2));
    viewer.get("/runs").expect(200);
    let grown = resident(server.pid()).saturating_sub(before);
    assert!(grown < 64 << 10, "40 slow readers cost {grown} KiB");
    drop(slow);
}

/// The resident memory of a process, in KiB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
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
