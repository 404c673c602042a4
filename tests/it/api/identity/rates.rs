//! Limits on a caller's request rate and open streams.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::api::support::{Answer, Client, Server, Who};
use crate::support::{TestApp, wait_for};

fn with(name: &str, value: &str) -> Server {
    let mut app = TestApp::new();
    app.set(name, value);
    Server::start_in(app)
}

/// `q=`, `r=`, ... of a rate-limit header.
fn part(answer: &Answer, header: &str, name: &str) -> u64 {
    let text = answer.header(header);
    let found = text.split(';').find_map(|part| part.strip_prefix(&format!("{name}=")));
    found.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name} in {header}: {text:?}"))
}

fn wait(answer: &Answer) -> Duration {
    Duration::from_secs(answer.header("retry-after").parse().unwrap())
}

#[test]
fn a_caller_is_told_what_is_left_and_when_to_come_back() {
    let server = with("CUBELOOM_SERVER_RATE", "15");
    let (viewer, editor) = (server.as_(Who::Viewer), server.as_(Who::Editor));
    editor.get("/me").expect(200);
    let first = viewer.get("/me").expect(200);
    assert_eq!((part(&first, "ratelimit-policy", "q"), part(&first, "ratelimit-policy", "w")), (30, 2));
    assert_eq!(part(&first, "ratelimit", "r"), 29);
    let mut left = 29;
    let refused = loop {
        let answer = viewer.get("/me");
        if answer.status != 200 {
            break answer;
        }
        let now = part(&answer, "ratelimit", "r");
        assert!(now <= left + 1, "{now} after {left}");
        left = now;
    };
    let refused = refused.expect(429);
    assert!(left <= 1, "{left}");
    assert_eq!(part(&refused, "ratelimit", "r"), 0);
    assert_eq!(part(&refused, "ratelimit", "t"), wait(&refused).as_secs());
    refused.problem("too-many");
    editor.get("/me").expect(200);
    std::thread::sleep(wait(&refused));
    viewer.get("/me").expect(200);
}

#[test]
fn whoever_guesses_tokens_is_slowed_before_they_are_looked_up() {
    let server = with("CUBELOOM_SERVER_RATE", "30");
    let viewer = server.as_(Who::Viewer);
    let fresh = server.token(Who::Viewer.name(), &["--scope", "read"]);
    wait_for("the viewer to be known", || viewer.get("/me").status == 200);
    let guess =
        |n: u32| server.with_token(Some(format!("clt_01aaaaaaaaaaaaaaaaaaaaaa{n:02}_{n}"))).get("/me");
    let refused = (0..90).map(guess).find(|answer| answer.status != 401).expect("guesses are slowed");
    assert_eq!(part(&refused, "ratelimit", "r"), 0);
    refused.expect(429).problem("too-many");
    // A valid but new token shares the rate of unauthenticated requests from its address: it is not looked
    // up.
    let unseen = server.with_token(Some(fresh));
    let statuses: Vec<u16> = (0..4).map(|n| (guess(n).status, unseen.get("/me").status).1).collect();
    assert!(statuses.contains(&429), "{statuses:?}");
    // A token that was accepted before is not affected by others at its address.
    viewer.get("/me").expect(200);
    wait_for("the other token's turn", || unseen.get("/me").status == 200);
    for n in 0..20 {
        guess(n);
        unseen.get("/me").expect(200);
    }
}

#[test]
fn a_known_token_that_is_revoked_is_a_stranger_again() {
    let server = with("CUBELOOM_SERVER_RATE", "30");
    let ada = server.as_(Who::Administrator);
    server.user("eve", &[]);
    let eve = server.with_token(Some(server.token("eve", &["--scope", "read"])));
    eve.get("/me").expect(200);
    let id = eve.token().unwrap().split('_').nth(1).unwrap().to_owned();
    ada.delete(&format!("/tokens/{id}"), "").expect(204);
    let statuses: Vec<u16> = (0..90).map(|_| eve.get("/me").status).collect();
    assert!(
        statuses.contains(&429) && statuses.iter().all(|status| matches!(status, 401 | 429)),
        "{statuses:?}"
    );
}

#[test]
fn strangers_may_change_less_than_they_may_look() {
    let server = with("CUBELOOM_SERVER_RATE", "30");
    let nobody = server.as_(Who::Anonymous);
    let tries = || nobody.post("/links/use", &json!({"token": "x", "password": "a long password"}));
    let first = tries().expect(410);
    assert!(first.header("ratelimit-policy").starts_with("\"stranger\";q=4"), "{:?}", first.headers);
    let statuses: Vec<u16> = (0..8).map(|_| tries().status).collect();
    assert!(statuses.contains(&429), "{statuses:?}");
    nobody.get("/health").expect(200);
}

#[test]
fn one_person_has_so_many_streams_and_no_more() {
    let server = with("CUBELOOM_SERVER_STREAMS", "3");
    let (viewer, editor) = (server.as_(Who::Viewer), server.as_(Who::Editor));
    let path = "/projects/default/events";
    let mut open: Vec<TcpStream> = (0..3).map(|_| stream(&server, &viewer, path)).collect();
    for path in [path, "/events"] {
        let refused = viewer.get(path).expect(429);
        assert!(!refused.header("retry-after").is_empty(), "{:?}", refused.headers);
        let detail = refused.problem("too-many")["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("3 event streams"), "{detail}");
    }
    viewer.get("/runs").expect(200);
    // Another token of the same person shares the limit; another person does not.
    let again = server.with_token(Some(server.token(Who::Viewer.name(), &["--scope", "read"])));
    again.get(path).expect(429);
    drop(stream(&server, &editor, path));
    drop(open.pop());
    wait_for("a seat to be free", || server.head_of(&viewer, Method::GET, path).0 == 200);
}

/// An open event stream. Dropping it ends the stream.
fn stream(server: &Server, client: &Client, path: &str) -> TcpStream {
    let (host, token) = (server.url().replace("http://", ""), client.token().unwrap());
    let mut stream = TcpStream::connect(&host).unwrap();
    let head = format!("GET /api/v1{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut begins = [0; 15];
    stream.read_exact(&mut begins).unwrap();
    assert_eq!(&begins, b"HTTP/1.1 200 OK");
    stream
}
