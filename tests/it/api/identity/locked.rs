//! The embedded database, locked by another program for a while.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::help::{Browser, sign_in};
use crate::api::runs::help::{Events, document, start, task};
use crate::api::support::{PASSWORD, Server, Who};
use crate::support::wait_for;

/// Another program that locks the database. Ending it releases the lock.
struct Holder(Child);

impl Holder {
    fn start(server: &Server) -> Self {
        let script = "import sqlite3, sys, time\nc = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
                      c.execute('BEGIN IMMEDIATE')\nprint('held', flush=True)\ntime.sleep(120)\n";
        let file = server.data().join("db/cubeloom.sqlite");
        let mut child = Command::new("/usr/bin/python3")
            .args(["-I", "-c", script])
            .arg(file)
            .stdout(Stdio::piped())
            .spawn()
            .expect("Debian's Python");
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "held");
        Self(child)
    }

    fn holds(&mut self) -> bool {
        self.0.try_wait().expect("it is a child").is_none()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn changes_are_refused_clearly_while_it_is_held_and_go_on_afterwards() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    server.user("eve", &["--project", "default", "--role", "viewer"]);
    let browser = Browser::new(&server, "eve");
    let events = Events::open(&ada, "/events", None);
    assert_eq!(events.next().name, "snapshot");
    let mut holder = Holder::start(&server);
    let refused = ada.post("/projects", &json!({"name": "vision"})).expect(503);
    assert!(holder.holds(), "it is refused while the database is held");
    assert_eq!(refused.header("retry-after"), "5");
    let detail = refused.problem("unavailable")["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("nothing was changed"), "{detail}");
    sign_in(&server.as_(Who::Anonymous), "eve", PASSWORD).expect(503).problem("unavailable");
    // Reads still work, also with a session.
    browser.get("/projects/default").expect(200);
    assert_eq!(ada.get("/projects").expect(200).json()["items"].as_array().unwrap().len(), 1);
    assert_eq!(browser.get("page:/").expect(200).status, 200);
    drop(holder);
    wait_for("changes to go on", || ada.post("/projects", &json!({"name": "vision"})).status == 201);
    let run = start(&ada, &document("p", &format!("tasks:\n{}", task("a", "true", ""))));
    let ended = events.find(|event| event.data["run"]["state"] == "succeeded");
    assert_eq!(ended.data["run"]["id"], run.as_str(), "the same stream goes on");
    assert!(!server.log().contains("panicked"), "{}", server.log());
}
