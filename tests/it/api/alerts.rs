//! Delivery of alerts: real HTTP and mail receivers, their responses, and a server that is killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::runs::help;
use super::support::{Client, Server, Who};
use crate::support::{TestApp, wait_for, wait_within};

const LIST: &str = "/projects/default/alerts";

/// Received requests: head and body of each.
pub type Heard = Arc<Mutex<Vec<(String, String)>>>;

/// An HTTP receiver that sends this response, status line first.
pub fn receiver(answer: &'static str) -> (String, Heard) {
    receiver_at(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
}

/// An HTTP receiver on this listener.
pub fn receiver_at(listener: TcpListener, answer: &'static str) -> (String, Heard) {
    let url = format!("http://127.0.0.1:{}/in?key=hidden", listener.local_addr().unwrap().port());
    let heard = Heard::default();
    let kept = Arc::clone(&heard);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if let Some(request) = request(&stream) {
                kept.lock().unwrap().push(request);
                let _ = (&stream).write_all(answer.as_bytes());
            }
        }
    });
    (url, heard)
}

fn request(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if line == "\r\n" {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).ok()?))
}

/// A mail sink, which keeps the data after `DATA`.
pub fn sink() -> (u16, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Heard::default();
    let kept = Arc::clone(&heard);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = mail(&stream, &kept);
        }
    });
    (port, heard)
}

fn mail(mut stream: &TcpStream, kept: &Heard) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut receivers = String::new();
    stream.write_all(b"220 sink\r\n")?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let answer = match line.split([' ', '\r']).next().unwrap_or_default() {
            "RCPT" => {
                receivers.push_str(&line);
                "250 fine"
            }
            "DATA" => {
                stream.write_all(b"354 go on\r\n")?;
                let mut text = String::new();
                while !text.ends_with("\r\n.\r\n") {
                    reader.read_line(&mut text)?;
                }
                kept.lock().unwrap().push((receivers.clone(), text));
                "250 taken as 42"
            }
            "QUIT" => "221 bye",
            _ => "250 fine",
        };
        stream.write_all(format!("{answer}\r\n").as_bytes())?;
    }
}

/// The content of a mail as parsed by Python's library.
pub fn said(mail: &str) -> String {
    const READ: &str = "import email, sys\nmail = email.message_from_bytes(sys.stdin.buffer.read())\n\
                        sys.stdout.buffer.write(mail.get_payload(decode=True))";
    let mut child = Command::new("python3")
        .args(["-c", READ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let whole = mail.strip_suffix(".\r\n").unwrap();
    child.stdin.take().unwrap().write_all(whole.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// A server that sends its mail to a sink.
pub fn mailing(port: u16) -> Server {
    let port = port.to_string();
    server(&[
        ("CUBELOOM_SMTP_HOST", "127.0.0.1"),
        ("CUBELOOM_SMTP_PORT", port.as_str()),
        ("CUBELOOM_SMTP_TLS", "never"),
        ("CUBELOOM_SMTP_FROM", "Cubeloom <cubeloom@example.org>"),
    ])
}

/// A response that accepts a message.
pub const FINE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";

pub fn server(settings: &[(&str, &str)]) -> Server {
    let mut app = TestApp::new();
    app.set("CUBELOOM_ALERTS_PRIVATE_ADDRESSES", "true");
    for (name, value) in settings {
        app.set(name, *value);
    }
    Server::start_in(app)
}

fn channel(kind: &str, address: &str) -> Value {
    json!({"name": kind, "kind": kind, "address": address, "rules": {"events": ["run_failed", "run_recovered"]}})
}

fn made(owner: &Client, body: &Value) -> String {
    owner.post(LIST, body).expect(201).json()["id"].as_str().unwrap().to_owned()
}

/// Runs a pipeline of one task to its end.
fn run(owner: &Client, command: &str) -> String {
    let document = format!(
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: nightly\ntasks:\n- name: train\n  template: command\n  arguments: {{command: [sh, -c, '{command}']}}\n"
    );
    let answer = owner.post("/projects/default/runs", &json!({"document": document})).expect(201).json();
    let id = answer["run"]["id"].as_str().unwrap().to_owned();
    let ended = || {
        let run = owner.get(&format!("/runs/{id}")).expect(200).json();
        ["failed", "succeeded"].contains(&run["state"].as_str().unwrap())
    };
    wait_for("the run to end", ended);
    id
}

fn deliveries(owner: &Client, channel: &str) -> Vec<Value> {
    let list = owner.get(&format!("/projects/default/alert-deliveries?channel={channel}")).expect(200).json();
    list["items"].as_array().unwrap().clone()
}

#[test]
fn a_failure_and_a_recovery_reach_a_program_signed_and_once() {
    let server = server(&[]);
    let owner = server.as_(Who::Owner);
    let (url, heard) = receiver(FINE);
    let mut body = channel("webhook", &url);
    body["secret"] = "s3cret".into();
    let id = made(&owner, &body);
    let failed = run(&owner, "exit 3");
    wait_for("the failure to be told", || heard.lock().unwrap().len() == 1);
    run(&owner, "true");
    wait_for("the recovery to be told", || heard.lock().unwrap().len() == 2);
    let told = heard.lock().unwrap().clone();
    let first: Value = serde_json::from_str(&told[0].1).unwrap();
    assert_eq!(
        (&first["alerts"][0]["kind"], &first["alerts"][0]["run"]),
        (&json!("run_failed"), &json!(failed))
    );
    assert!(first["text"].as_str().unwrap().contains("exit code 3"), "{first}");
    let second: Value = serde_json::from_str(&told[1].1).unwrap();
    assert_eq!(second["alerts"][0]["kind"], "run_recovered");
    assert_ne!(first["id"], second["id"]);
    // As in docs/alerts.md.
    let header = |name: &str| {
        let line = told[0].0.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap();
        line.trim().to_owned()
    };
    let at: i64 = header("cubeloom-timestamp").parse().unwrap();
    let python = format!(
        "import hmac,hashlib,sys;print('v1='+hmac.new(b's3cret',b'{at}.'+sys.stdin.buffer.read(),hashlib.sha256).hexdigest())"
    );
    let mut child = Command::new("python3")
        .args(["-c", &python])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(told[0].1.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), header("cubeloom-signature"));
    wait_for("both to be noted", || {
        deliveries(&owner, &id).iter().filter(|one| one["state"] == "sent").count() == 2
    });
    assert_eq!(deliveries(&owner, &id)[0]["answer"], "HTTP 200: ok");
    assert_eq!(heard.lock().unwrap().len(), 2);
}

#[test]
fn what_a_killed_server_had_to_tell_is_told_by_the_next() {
    let server = server(&[]);
    let owner = server.as_(Who::Owner);
    // At first, no server listens there.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let id = made(&owner, &channel("webhook", &format!("http://127.0.0.1:{port}/")));
    run(&owner, "exit 1");
    wait_for("a try", || deliveries(&owner, &id)[0]["tries"].as_u64() >= Some(1));
    let before = deliveries(&owner, &id);
    assert_eq!(before[0]["state"], "waiting");
    assert!(before[0]["answer"].as_str().unwrap().contains("refused"), "{}", before[0]);
    server.kill();
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let told = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let heard = request(&stream).unwrap();
        (&stream).write_all(FINE.as_bytes()).unwrap();
        heard
    });
    server.run();
    let owner = server.as_(Who::Owner);
    wait_within(Duration::from_secs(90), "the message to be sent", || {
        deliveries(&owner, &id)[0]["state"] == "sent"
    });
    let body: Value = serde_json::from_str(&told.join().unwrap().1).unwrap();
    assert_eq!(body["id"], before[0]["id"], "receivers can drop doubles by it");
}

#[test]
fn what_nobody_reports_is_looked_for_and_reaches_a_receiver() {
    let kinds = ["budget_nearly_used", "quota_nearly_used", "run_late", "task_waiting"];
    let server = server(&[]);
    let (owner, admin) = (server.as_(Who::Owner), server.as_(Who::Administrator));
    let (url, heard) = receiver(FINE);
    let rules = json!({"events": kinds, "waiting_seconds": 60});
    made(&owner, &json!({"name": "ops", "kind": "webhook", "address": url, "rules": rules}));
    let quota = json!({"quotas": {"local": {"limit": {"cpu": 1}}}});
    admin.put("/projects/default/quota", "*", &quota).expect(200);
    admin.post("/prices", &json!({"cluster": "local", "cpu_hour": "900000"})).expect(201);
    let month = admin.get("/usage").expect(200).json()["to"].as_str().unwrap()[..7].to_owned();
    let budget = json!({"amount": "1", "warn_percent": 50});
    admin.put(&format!("/projects/default/budgets/{month}"), "*", &budget).expect(201);
    // One task uses the project's whole quota, so the scheduled run is pending and becomes late.
    let tasks = format!("tasks:\n{}", help::task("hold", "sleep 300", "")).replace("cpu: 100m", "cpu: 1");
    let holds = help::start(&owner, &help::document("holds", &tasks));
    help::until_task(&owner, &holds, "hold", "running");
    let late = help::task("say", "true", "").replace("cpu: 100m", "cpu: 500m");
    let late = format!("schedule: {{every: 1s, late_after: 1s, skip_if_running: true}}\ntasks:\n{late}");
    owner
        .post("/projects/default/pipelines", &json!({"document": help::document("nightly", &late)}))
        .expect(201);
    let waits = || {
        let runs = owner.get("/projects/default/runs?pipeline=nightly").expect(200).json();
        runs["items"][0]["id"].as_str().map(ToOwned::to_owned)
    };
    wait_for("the schedule to start a run", || waits().is_some());
    let waits = waits().unwrap();
    let why = || help::of_task(&owner, &waits, "say")["wait"]["rule"].clone();
    wait_for("its task to wait for the quota", || why() == "quota");
    owner.post("/projects/default/pipelines/nightly/schedule/pause", &json!({})).expect(200);
    // The server checks for these at startup, and then twice a minute.
    server.kill();
    server.run();
    let mark = "SELECT since FROM quota_marks WHERE resource = 'cpu'";
    wait_for("the quota to be seen as nearly used", || server.sql(mark).len() == 1);
    let before = heard.lock().unwrap().len();
    server.kill();
    // Simulates a quarter of an hour.
    server.sql("UPDATE quota_marks SET since = since - 900000000");
    server.sql("UPDATE instances SET ready_at = ready_at - 900000000");
    server.run();
    let told = || -> Vec<Value> {
        let heard = heard.lock().unwrap();
        let bodies = heard.iter().map(|(_, body)| serde_json::from_str::<Value>(body).unwrap());
        bodies.flat_map(|body| body["alerts"].as_array().unwrap().clone()).collect()
    };
    let of = |kind: &str| -> Vec<Value> { told().into_iter().filter(|one| one["kind"] == kind).collect() };
    wait_for("all to be told", || kinds.iter().all(|kind| !of(kind).is_empty()));
    assert!(before < heard.lock().unwrap().len(), "what lasts is told when it has lasted");
    for kind in kinds {
        assert_eq!(of(kind).len(), 1, "{kind} is told once: {:#?}", told());
    }
    for kind in ["run_late", "task_waiting"] {
        assert_eq!(of(kind)[0]["run"], waits, "{:#?}", of(kind));
    }
    let text: String = heard.lock().unwrap().iter().map(|(_, body)| body.clone()).collect();
    assert!(text.contains("it uses 1 of 1 of cpu on local"), "{text}");
    let owner = server.as_(Who::Owner);
    for run in [&waits, &holds] {
        owner.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
        help::until(&owner, run, "cancelled");
    }
}

#[test]
fn a_test_message_tells_what_the_receiver_answered() {
    let (port, mails) = sink();
    let server = mailing(port);
    let owner = server.as_(Who::Owner);
    let test = |id: &str| owner.post(&format!("{LIST}/{id}/test"), &json!({})).expect(200).json();

    let mail = made(&owner, &channel("email", "ops@example.org, ada@example.org"));
    assert_eq!(test(&mail), json!({"sent": true, "answer": "SMTP 250 taken as 42"}));
    let (receivers, text) = mails.lock().unwrap()[0].clone();
    assert_eq!(receivers, "RCPT TO:<ops@example.org>\r\nRCPT TO:<ada@example.org>\r\n");
    assert!(text.contains("Subject: [Cubeloom] Test message to email of default\r\n"), "{text}");

    let refusal =
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"errcode\":310000,\"errmsg\":\"sign not match\"}";
    let (url, _) = receiver(refusal);
    let refused = test(&made(&owner, &channel("dingtalk", &url)));
    assert_eq!(refused["sent"], false);
    assert!(refused["answer"].as_str().unwrap().contains("sign not match"), "{refused}");

    let elsewhere = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let (url, _) = receiver(elsewhere);
    let id = made(&owner, &channel("webhook", &url));
    assert_eq!(test(&id), json!({"sent": false, "answer": "HTTP 302"}), "nobody is followed");
    let noted = deliveries(&owner, &id);
    assert_eq!((&noted[0]["kind"], &noted[0]["state"]), (&json!("test"), &json!("failed")));
}

#[test]
fn inner_addresses_are_refused_unless_the_administrator_allows_them() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let (url, heard) = receiver(FINE);
    let port = url.split(':').nth(2).unwrap().split('/').next().unwrap().to_owned();
    for host in ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "0x7f.1"] {
        let id = made(&owner, &channel("webhook", &format!("http://{host}:{port}/in")));
        let answer = owner.post(&format!("{LIST}/{id}/test"), &json!({})).expect(200).json();
        assert_eq!(answer["sent"], false, "{host}");
        assert!(answer["answer"].as_str().unwrap().contains("private_addresses"), "{host}: {answer}");
    }
    assert!(heard.lock().unwrap().is_empty());
    let refused = owner.post(LIST, &channel("email", "ops@example.org")).expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["path"], "/kind", "no mail server is configured");
}

#[test]
fn a_channel_is_made_changed_and_deleted_and_shows_no_secret() {
    let server = server(&[]);
    let (owner, editor) = (server.as_(Who::Owner), server.as_(Who::Editor));
    let mut body = channel("feishu", "https://open.feishu.cn/open-apis/bot/v2/hook/hidden-part");
    body["secret"] = "s3cret-of-the-bot".into();
    editor.post(LIST, &body).expect(403);
    let id = made(&owner, &body);
    let path = format!("{LIST}/{id}");
    let seen = editor.get(&path).expect(200);
    assert!(!seen.text().contains("hidden-part") && !seen.text().contains("s3cret"), "{}", seen.text());
    assert_eq!(
        (&seen.json()["signed"], &seen.json()["address"]),
        (&json!(true), &json!("https://open.feishu.cn/…"))
    );
    server.as_(Who::Viewer).get(LIST).expect(403);

    let rules = json!({"events": ["task_waiting"], "waiting_seconds": 600, "language": "zh",
        "quiet": {"from": "22:00", "until": "07:00", "zone": "Asia/Shanghai"}});
    let changed = owner.patch(&path, "\"1\"", &json!({"rules": rules, "enabled": false})).expect(200);
    assert_eq!(changed.etag(), "\"2\"");
    assert_eq!(changed.json()["rules"]["quiet"]["zone"], "Asia/Shanghai");
    owner.patch(&path, "\"1\"", &json!({"enabled": true})).expect(412).problem("stale");
    let wrong = json!({"name": " ", "kind": "pigeon", "address": "ftp://x", "rules": {"events": ["test"],
        "waiting_seconds": 1, "language": "fr", "quiet": {"from": "9", "until": "10:00", "zone": "Moon"}}});
    let refused = owner.post(LIST, &wrong).expect(422).problem("invalid");
    let places: Vec<&str> =
        refused["problems"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    let expected = [
        "/name",
        "/kind",
        "/address",
        "/rules/events",
        "/rules/waiting_seconds",
        "/rules/language",
        "/rules/quiet/from",
        "/rules/quiet/zone",
    ];
    assert_eq!(places, expected);
    let log = owner.get("/projects/default/audit").expect(200).text();
    assert!(log.contains("alert.update") && !log.contains("hidden-part") && !log.contains("s3cret"));
    owner.delete(&path, "\"2\"").expect(204);
    owner.get(&path).expect(404);
}
