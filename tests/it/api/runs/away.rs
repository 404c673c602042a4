//! A database outage: clear errors, streams that stay open, and full recovery afterwards.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cubeloom_testkit::postgres::{Cluster, Database};
use serde_json::json;

use super::help::{Events, document, start, task, until, until_task};
use crate::api::identity::help::Browser;
use crate::api::support::{Server, Who};
use crate::support::{TestApp, wait_for};

/// A proxy between a server and its database that can be shut.
struct Gate {
    address: String,
    open: Arc<AtomicBool>,
    passing: Arc<Mutex<Vec<TcpStream>>>,
}

impl Gate {
    fn new(database: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (open, passing) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(Vec::new())));
        let gate = Self { address, open: Arc::clone(&open), passing: Arc::clone(&passing) };
        let database = database.to_owned();
        thread::spawn(move || {
            for guest in listener.incoming().flatten() {
                if !open.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(host) = TcpStream::connect(&database) else { continue };
                let ends = [guest.try_clone().unwrap(), host.try_clone().unwrap()];
                passing.lock().unwrap().extend(ends);
                let (guest_in, host_in) = (guest.try_clone().unwrap(), host.try_clone().unwrap());
                thread::spawn(move || copy(guest_in, host));
                thread::spawn(move || copy(host_in, guest));
            }
        });
        gate
    }

    fn shut(&self) {
        self.open.store(false, Ordering::SeqCst);
        for end in self.passing.lock().unwrap().drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    fn open(&self) {
        self.open.store(true, Ordering::SeqCst);
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// A server whose database is behind a gate.
fn behind() -> (Database, Gate, Server) {
    let database = Database::create();
    let url = database.url();
    let (host, name) = url.rsplit_once('@').unwrap().1.split_once('/').unwrap();
    let gate = Gate::new(host);
    let mut app = TestApp::new();
    app.set("CUBELOOM_DATABASE_URL", format!("postgres://cubeloom@{}/{name}", gate.address));
    (database, gate, Server::start_in(app))
}

#[test]
fn a_server_is_not_ready_while_its_database_is_away_and_is_once_it_is_back() {
    let (_database, gate, server) = behind();
    let nobody = server.as_(Who::Anonymous);
    let asked = ["/ready", "/health"];
    for path in asked {
        nobody.get(path).expect(200);
    }
    gate.shut();
    for path in asked {
        wait_for("the server to notice", || nobody.get(path).status == 503);
        let refused = nobody.get(path).expect(503);
        assert!(!refused.header("retry-after").is_empty(), "{path}: {:?}", refused.headers);
        refused.problem("unavailable");
        let text = refused.text();
        assert!(text.contains("the database is unreachable"), "{path}: {text}");
        assert!(!text.contains(&gate.address), "{path} says where the database is: {text}");
    }
    gate.open();
    for path in asked {
        wait_for("the database to be back", || nobody.get(path).status == 200);
    }
    assert_eq!(nobody.get("/ready").expect(200).json()["status"], "ready");
}

#[test]
fn the_database_may_be_away_for_a_while() {
    let (_database, gate, server) = behind();
    let editor = server.as_(Who::Editor);
    let held = server.path("held");
    std::fs::write(&held, "").unwrap();
    let line = format!("while [ -e {} ]; do sleep 0.1; done", held.display());
    let run = start(&editor, &document("away", &format!("tasks:\n{}", task("a", &line, ""))));
    until_task(&editor, &run, "a", "running");
    let events = Events::open(&editor, &format!("/runs/{run}/events"), None);
    assert_eq!(events.next().name, "snapshot");
    gate.shut();
    wait_for("the server to notice", || editor.get(&format!("/runs/{run}/tasks")).status == 503);
    let refused = editor.get("/runs").expect(503);
    assert!(!refused.header("retry-after").is_empty(), "{:?}", refused.headers);
    refused.problem("unavailable");
    std::fs::remove_file(&held).unwrap();
    gate.open();
    until_when_back(&editor, &run);
    let told = events.find(|event| event.name == "run" && event.data["run"]["state"] == "succeeded");
    assert_eq!(told.data["run"]["id"], run.as_str(), "the same stream tells of the end");
    until(&editor, &run, "succeeded");
}

/// How long the database is stopped: longer than an engine lease, and than any wait for the database.
const STOPPED: Duration = Duration::from_secs(60);

#[test]
fn a_database_that_crashes_and_comes_back_costs_a_run_nothing_but_time() {
    let cluster = Cluster::create();
    let mut app = TestApp::new();
    app.set("CUBELOOM_DATABASE_URL", cluster.url());
    let server = Server::start_in(app);
    let editor = server.as_(Who::Editor);
    let browser = Browser::new(&server, Who::Editor.name());
    let held = server.path("held");
    std::fs::write(&held, "").unwrap();
    let line = format!(
        "echo began >> $CUBELOOM_WORKSPACE/began; while [ -e {0} ]; do sleep 0.1; done; echo '{{\"output\": {{\"n\": 7}}}}' >> $CUBELOOM_OUTPUTS",
        held.display()
    );
    let second = task("b", "echo it is {{ tasks.a.outputs.n }}", "    needs: [a]\n");
    let first = task("a", &line, "    outputs: [n]\n");
    let run = start(&editor, &document("crash", &format!("tasks:\n{first}{second}")));
    until_task(&editor, &run, "a", "running");
    let events = Events::open(&editor, &format!("/runs/{run}/events"), None);
    assert_eq!(events.next().name, "snapshot");
    cluster.stop();
    let stopped = Instant::now();
    wait_for("the server to notice", || editor.get(&format!("/runs/{run}/tasks")).status == 503);
    // The task ends while its end cannot be stored.
    std::fs::remove_file(&held).unwrap();
    let other = json!({"document": document("other", &format!("tasks:\n{}", task("a", "true", "")))});
    while stopped.elapsed() < STOPPED {
        let refused = editor.get("/runs").expect(503);
        assert!(!refused.header("retry-after").is_empty(), "{:?}", refused.headers);
        refused.problem("unavailable");
        editor.post("/projects/default/pipelines", &other).expect(503).problem("unavailable");
        for path in ["page:/", "page:/projects/default/runs", &format!("page:/runs/{run}")] {
            let page = browser.get(path).expect(503);
            assert!(page.header("content-type").starts_with("text/html"), "{path}: {:?}", page.headers);
            assert!(!page.header("retry-after").is_empty(), "{path}: {:?}", page.headers);
            let text = page.text();
            for words in ["Temporarily unavailable", "the database is unreachable", "</html>"] {
                assert!(text.contains(words), "{path} does not say {words}: {text}");
            }
            assert!(!text.contains(&cluster.url()), "{path} says where the database is: {text}");
        }
        thread::sleep(Duration::from_secs(1));
    }
    cluster.start();
    until_when_back(&editor, &run);
    let told = events.find(|event| event.name == "run" && event.data["run"]["state"] == "succeeded");
    assert_eq!(told.data["run"]["id"], run.as_str(), "the same stream tells of the end");
    let log = editor.get(&format!("/runs/{run}/logs/text?task=b")).expect(200).text();
    assert!(log.contains("it is 7"), "{log}");
    let began = std::fs::read_to_string(server.data().join("workspace/default/began")).unwrap();
    assert_eq!(began, "began\n", "nothing was done twice");
    let attempts = editor.get(&format!("/runs/{run}/attempts")).expect(200).json();
    assert_eq!(attempts["items"].as_array().unwrap().len(), 2, "{attempts}");
    editor.post("/projects/default/pipelines", &other).expect(201);
    browser.get("page:/projects/default/runs").expect(200);
}

/// Right after the outage, requests may still be refused.
fn until_when_back(client: &crate::api::support::Client, run: &str) {
    wait_for("the run to end", || {
        let answer = client.get(&format!("/runs/{run}"));
        answer.status == 200 && answer.json()["state"] == "succeeded"
    });
}
