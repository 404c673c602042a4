//! The `http` template, against a server with scripted responses.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::full::{Small, linked};
use super::rig::{folder, run};
use crate::support::{TestApp, instance, outputs};
use serde_json::{Value, json};

/// A server that sends these raw responses in turn, and records the requests.
pub(super) struct Script {
    pub(super) address: String,
    asked: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl Script {
    pub(super) fn new(answers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let (asked, answers) = (Arc::new(Mutex::new(Vec::new())), answers.iter().map(|it| (*it).to_owned()));
        let (kept, answers): (_, Vec<String>) = (Arc::clone(&asked), answers.collect());
        thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().expect("a client");
                let mut reader = BufReader::new(&stream);
                let (mut request, mut length) = (String::new(), 0);
                while !request.ends_with("\r\n\r\n") && reader.read_line(&mut request).expect("a line") > 0 {
                    let line = request.lines().last().unwrap_or_default().to_lowercase();
                    if let Some(declared) = line.strip_prefix("content-length: ") {
                        length = declared.parse().expect("a length");
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).expect("the body");
                let request = request + &String::from_utf8_lossy(&body);
                kept.lock().expect("it").push((Instant::now(), request));
                (&stream).write_all(answer.as_bytes()).expect("it listens");
            }
        });
        Self { address, asked }
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("it").iter().map(|(_, request)| request.clone()).collect()
    }

    /// The time from the first request to the last.
    pub(super) fn lasted(&self) -> Duration {
        let asked = self.asked.lock().expect("it");
        asked.last().expect("one").0 - asked[0].0
    }
}

const SOLD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"sold\": 42}";

/// Runs one call with the task secret `CALL_TOKEN`. Returns the ended task.
#[track_caller]
fn call(app: &TestApp, code: i32, script: &Script, arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    arguments["url"] = format!("http://{}/sales", script.address).into();
    let rest = format!("  - name: call\n    template: http\n    arguments: {arguments}\n");
    let secrets = "    secrets: [{name: call-token, env: CALL_TOKEN}]\n";
    run(app, code, &app.pipeline("call", &format!("{rest}{secrets}")), &[])
}

fn with_token() -> TestApp {
    let mut app = TestApp::new();
    app.set("A_TOKEN", "s3cret-of-the-call");
    app.set("CUBELOOM_SECRETS_CALL_TOKEN", "env:A_TOKEN");
    app
}

#[test]
fn http_sends_what_it_is_told_and_reports_the_answer() {
    let (app, script) = (with_token(), Script::new(&[SOLD]));
    let arguments = json!({
        "method": "POST", "headers": {"Accept": "application/json", "X-Equal": "a=b"}, "body": {"day": "monday"},
        "token_variable": "CALL_TOKEN", "save": "answers/sales.json",
    });
    let run = call(&app, 0, &script, &arguments);
    let told = outputs(&run, "call");
    assert_eq!(
        (&told["status"], &told["bytes"], &told["body"]),
        (&200.into(), &12.into(), &json!({"sold": 42}))
    );
    assert_eq!(fs::read_to_string(folder(&run).join("answers/sales.json")).unwrap(), "{\"sold\": 42}");
    let asked = script.asked().remove(0);
    assert!(asked.starts_with("POST /sales HTTP/1.1\r\n"), "{asked}");
    for line in ["Accept: application/json", "X-Equal: a=b", "Authorization: Bearer s3cret-of-the-call"] {
        assert!(asked.contains(line), "{line}: {asked}");
    }
    assert!(asked.ends_with("\r\n\r\n{\"day\": \"monday\"}"), "{asked}");
}

#[test]
fn http_asks_again_while_the_service_cannot_answer() {
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"sold\"";
    let busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n";
    let (app, script) = (with_token(), Script::new(&[busy, short, SOLD]));
    let run = call(&app, 0, &script, &json!({"save": "sales.json"}));
    assert_eq!(outputs(&run, "call")["body"]["sold"], 42);
    assert_eq!(script.asked().len(), 3);
    assert_eq!(fs::read_to_string(folder(&run).join("sales.json")).unwrap(), "{\"sold\": 42}");
}

#[test]
fn http_says_what_the_service_refused_and_leaves_the_file_as_it_was() {
    let refusal = "HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\nno such id";
    let (app, script) = (with_token(), Script::new(&[refusal]));
    let run = call(&app, 1, &script, &json!({"save": "sales.json"}));
    let failure = instance(&run, "call")["state"]["failure"].to_string();
    assert!(failure.contains("answered 404 Not Found: no such id"), "{failure}");
    assert_eq!(script.asked().len(), 1, "it would be refused again");
    assert_eq!(fs::read_dir(folder(&run)).unwrap().count(), 0, "nothing was written");
    // An invalid request is not sent, and not retried.
    let run = call(&app, 1, &Script::new(&[]), &json!({"headers": {"A b": "c"}}));
    let failure = instance(&run, "call")["state"]["failure"].to_string();
    assert!(failure.contains("`headers`: 'A b'"), "{failure}");
    // An expected status is no failure.
    let script = Script::new(&[refusal]);
    let run = call(&app, 0, &script, &json!({"expect": [404]}));
    assert_eq!(outputs(&run, "call")["body"], "no such id");
}

#[test]
fn http_leaves_a_file_that_was_there_whatever_goes_wrong() {
    let app = with_token();
    let disk = app.data().join("workspace/default/small");
    // A disk with little space, if one can be mounted.
    let small = Small::mount(&disk);
    let file = disk.join("sales.json");
    fs::write(&file, "old").unwrap();
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"sold\"";
    let denied = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
    let large = format!("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n{}", "x".repeat(3_000_000));
    let full = small.is_some().then_some((large.as_str(), json!([]), "No space left on device"));
    for (answer, expect, words) in [
        (short, json!([]), "only 7 of 12 bytes came"),
        (denied, json!([]), "answered 401 Unauthorized"),
        (SOLD, json!([202]), "answered 200, which was not expected"),
    ]
    .into_iter()
    .chain(full)
    {
        let script = Script::new(&[answer]);
        let arguments = json!({
            "url": format!("http://{}/sales", script.address), "method": "POST", "retries": 0, "expect": expect,
            "save": "small/sales.json",
        });
        let run = run(&app, 1, &app.pipeline("call", &linked("small", "call", "http", &arguments)), &[]);
        let failure = instance(&run, "call")["state"]["failure"].to_string();
        assert!(failure.contains(words), "{words}: {failure}");
        assert_eq!(script.asked().len(), 1, "{words}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(fs::read_dir(&disk).unwrap().count(), 1, "nothing is left beside it");
    }
}

#[test]
fn http_sends_no_token_to_whom_it_is_sent_on() {
    let other = Script::new(&[SOLD]);
    let on =
        format!("HTTP/1.1 302 Found\r\nLocation: http://{}/\r\nContent-Length: 0\r\n\r\n", other.address);
    let (app, script) = (with_token(), Script::new(&[&on]));
    call(&app, 0, &script, &json!({"token_variable": "CALL_TOKEN"}));
    assert!(script.asked()[0].contains("Bearer s3cret-of-the-call"));
    assert!(!other.asked()[0].contains("s3cret"), "{:?}", other.asked());
}

#[test]
fn http_refuses_wrong_arguments_before_anything_starts() {
    let app = TestApp::new();
    for (arguments, field) in [
        (json!({"url": "ftp://example.org/x"}), "/tasks/0/arguments/url"),
        (json!({"url": "http://a/", "headers": {"A": "c\r\nB: d"}}), "/tasks/0/arguments/headers"),
        (json!({"url": "http://a/", "expect": [42]}), "/tasks/0/arguments/expect"),
    ] {
        let text = format!("  - name: call\n    template: http\n    arguments: {arguments}\n");
        let refused = app.expect(2, &["run", &app.pipeline("refused", &text)]);
        assert!(refused.out.contains(field), "{field}: {refused:?}");
    }
}
