//! The streamed audit log: every entry reaches the receiver, also across a restart and from several servers.
//! An unreachable receiver blocks nothing.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::sync::{Arc, Mutex};
use std::thread;

use cubeloom_store::{Options, Store};
use cubeloom_testkit::postgres::Database;
use serde_json::{Value, json};

use super::help::audited;
use crate::api::alerts::{FINE, Heard, receiver};
use crate::api::support::{Client, Server, Who};
use crate::support::{TestApp, wait_for};

fn server(settings: &[(&str, &str)]) -> Server {
    let mut app = TestApp::new();
    for (name, value) in settings {
        app.set(name, *value);
    }
    Server::start_in(app)
}

/// Leaves a `project.update` entry with this label.
fn change(owner: &Client, label: &str) {
    owner.patch("/projects/default", "*", &json!({"label": label})).expect(200);
}

/// How often a receiver got each entry, by id.
fn got(heard: &Heard) -> BTreeMap<String, usize> {
    let mut got = BTreeMap::new();
    for (_, body) in heard.lock().unwrap().iter() {
        for line in body.lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            *got.entry(entry["id"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    got
}

fn labels(heard: &Heard) -> String {
    heard.lock().unwrap().iter().map(|(_, body)| body.clone()).collect()
}

/// Whether a receiver got every logged entry of this action.
fn has_all(ada: &Client, heard: &Heard, action: &str) -> bool {
    let got = got(heard);
    audited(ada, action).iter().all(|entry| got.contains_key(entry["id"].as_str().unwrap()))
}

#[test]
fn a_webhook_gets_every_entry_as_json_lines_once() {
    let (url, heard) = receiver(FINE);
    let server = server(&[
        ("CUBELOOM_AUDIT_WEBHOOK", url.as_str()),
        ("CUBELOOM_AUDIT_AUTHORIZATION", "Bearer s3cret"),
    ]);
    let (ada, owner) = (server.as_(Who::Administrator), server.as_(Who::Owner));
    change(&owner, "first");
    wait_for("the first entry to be sent", || labels(&heard).contains("\"first\""));
    let (head, body) = heard.lock().unwrap()[0].clone();
    assert!(head.contains("content-type: application/x-ndjson"), "{head}");
    assert!(head.contains("authorization: bearer s3cret"), "{head}");
    assert!(body.ends_with("}\n"), "{body}");
    server.stop();
    server.run();
    let (ada, owner) = (server.with_token(ada.token().map(Into::into)), server.as_(Who::Owner));
    for label in ["second", "third"] {
        change(&owner, label);
    }
    wait_for("all to be sent", || has_all(&ada, &heard, "project.update"));
    let twice: Vec<_> = got(&heard).into_iter().filter(|(_, times)| *times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    // The sent entry equals the logged one.
    let entry = audited(&ada, "project.update")[0].clone();
    assert!(labels(&heard).lines().any(|line| serde_json::from_str::<Value>(line).unwrap() == entry));
    // Neither the address nor the header appears in logs or responses.
    assert!(!server.log().contains("s3cret") && !server.log().contains("key=hidden"), "{}", server.log());
}

#[test]
fn what_a_receiver_missed_is_sent_when_it_is_back_also_by_the_next_server() {
    // At first, no receiver listens.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("http://127.0.0.1:{port}/in?key=hidden");
    let server = server(&[("CUBELOOM_AUDIT_WEBHOOK", url.as_str())]);
    let (ada, owner) = (server.as_(Who::Administrator), server.as_(Who::Owner));
    change(&owner, "missed");
    let fails = || ada.get("page:/audit").expect(200).text().contains("does not reach webhook");
    wait_for("the page to say so", fails);
    server.kill();
    server.run();
    let (ada, owner) = (server.with_token(ada.token().map(Into::into)), server.as_(Who::Owner));
    change(&owner, "missed, too");
    let (_, heard) = listen_at(port);
    wait_for("all to be sent", || has_all(&ada, &heard, "project.update"));
    let said = || ada.get("page:/audit").expect(200).text().contains("does not reach webhook");
    wait_for("the page to say nothing any more", || !said());
    assert!(!server.log().contains("key=hidden"), "{}", server.log());
}

/// An HTTP receiver on a port.
fn listen_at(port: u16) -> (String, Heard) {
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    crate::api::alerts::receiver_at(listener, FINE)
}

#[test]
fn of_two_servers_on_one_database_one_sends_each_entry() {
    let database = Database::create();
    let (url, heard) = receiver(FINE);
    let settings = [("CUBELOOM_AUDIT_WEBHOOK", url.as_str())];
    let at = |database: &Database| {
        let url = database.url();
        server(&[("CUBELOOM_DATABASE_URL", url.as_str()), settings[0]])
    };
    let (here, there) = (at(&database), at(&database));
    let (ada, owner) = (here.as_(Who::Administrator), here.as_(Who::Owner));
    let other = there.with_token(owner.token().map(Into::into));
    for n in 0..20 {
        change(if n % 2 == 0 { &owner } else { &other }, &format!("label {n}"));
    }
    wait_for("all to be sent", || has_all(&ada, &heard, "project.update"));
    // The sending server is killed once it has recorded its progress: the other one continues.
    let noted = |store: Store| async move { store.unsent_audit("webhook", 1).await.unwrap().is_empty() };
    wait_for("all to be noted", || with_database(&database, noted));
    here.kill();
    let ada = there.with_token(ada.token().map(Into::into));
    change(&other, "the last");
    wait_for("the last to be sent", || has_all(&ada, &heard, "project.update"));
    let updates: Vec<String> = audited(&ada, "project.update")
        .iter()
        .map(|entry| entry["id"].as_str().unwrap().to_owned())
        .collect();
    let got = got(&heard);
    assert!(updates.len() == 21 && updates.iter().all(|id| got[id] == 1), "{got:?}");
}

/// Queries a database as a server on it would.
fn with_database<T, F: Future<Output = T>>(database: &Database, ask: impl FnOnce(Store) -> F) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { ask(Store::open(&Options::new(database.url())).await.unwrap()).await })
}

/// The JSON of a syslog message.
fn message(text: &str) -> Value {
    let mut parts = text.splitn(8, ' ');
    let head: Vec<&str> = parts.by_ref().take(7).collect();
    assert!(head[0] == "<110>1" || head[0] == "<108>1", "{text}");
    assert_eq!((head[2], head[3], head[4], head[6]), ("127.0.0.1", "cubeloom", "-", "-"), "{text}");
    let entry: Value = serde_json::from_str(parts.next().unwrap()).unwrap();
    assert_eq!((&json!(head[1]), &json!(head[5])), (&entry["at"], &entry["action"]), "{text}");
    entry
}

/// Waits until one of the incoming messages, which `next` reads, contains a label.
fn until_label(label: &str, next: impl Fn() -> String) {
    for _ in 0..100 {
        if message(&next())["after"]["label"] == label {
            return;
        }
    }
    panic!("no message has the label {label}");
}

#[test]
fn syslog_gets_messages_by_udp_and_at_a_socket_of_the_machine() {
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = format!("udp://{}", udp.local_addr().unwrap());
    let sent = server(&[("CUBELOOM_AUDIT_SYSLOG", address.as_str())]);
    change(&sent.as_(Who::Owner), "by datagram");
    let patience = Some(crate::support::PATIENCE);
    udp.set_read_timeout(patience).unwrap();
    until_label("by datagram", || {
        let mut bytes = [0; 65_536];
        let length = udp.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(patience).unwrap();
    let address = format!("unix://{}", path.display());
    let sent = server(&[("CUBELOOM_AUDIT_SYSLOG", address.as_str())]);
    change(&sent.as_(Who::Owner), "at the socket");
    until_label("at the socket", || {
        let mut bytes = [0; 65_536];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    });
}

#[test]
fn syslog_gets_messages_by_tcp_with_counted_octets() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let heard: Arc<Mutex<Vec<Value>>> = Arc::default();
    let kept = Arc::clone(&heard);
    thread::spawn(move || {
        for (n, mut stream) in listener.incoming().flatten().enumerate() {
            // The first connection breaks: its messages are sent again.
            if n == 0 {
                let _ = stream.read(&mut [0; 1]);
                continue;
            }
            let mut all = String::new();
            stream.read_to_string(&mut all).unwrap();
            let mut rest = all.as_str();
            while let Some((length, after)) = rest.split_once(' ') {
                let length: usize = length.parse().unwrap();
                kept.lock().unwrap().push(message(&after[..length]));
                rest = &after[length..];
            }
            assert_eq!(rest, "");
            let _ = stream.flush();
        }
    });
    let server = server(&[("CUBELOOM_AUDIT_SYSLOG", address.as_str())]);
    let (ada, owner) = (server.as_(Who::Administrator), server.as_(Who::Owner));
    for label in ["数据", "two", "three"] {
        change(&owner, label);
    }
    let has = |entry: &Value| heard.lock().unwrap().contains(entry);
    wait_for("all to be sent", || audited(&ada, "project.update").iter().all(has));
    wait_for("the accounts, too", || audited(&ada, "user.create").iter().all(has));
}

#[test]
fn a_setting_that_cannot_be_meant_is_refused_at_the_start() {
    for (key, value, said) in [
        ("CUBELOOM_AUDIT_SYSLOG", "logs:514", "[audit] syslog: write udp://HOST:PORT"),
        ("CUBELOOM_AUDIT_WEBHOOK", "logs.example.org", "[audit] webhook: it is not a URL"),
        ("CUBELOOM_AUDIT_WEBHOOK", "env:NOWHERE_TO_BE_FOUND", "[audit] webhook: the variable"),
    ] {
        let mut app = TestApp::new();
        app.set(key, value);
        let done = app.call(&["serve"]);
        assert!(done.code != Some(0) && done.err.contains(said), "{done:#?}");
    }
}
