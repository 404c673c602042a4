//! Worker ports on this machine: those of another project are unreachable, those of the same project and of
//! the machine are reachable.

use std::fs;
use std::io::Write;
use std::net::TcpListener;

use serde_json::{Value, json};

use super::programs::{lines, walls};
use super::{Line, Scene, ended, judge, log, run};
use crate::api::support::client::Client;
use crate::support::{TestApp, wait_for};

const LISTENER: &str = include_str!("../../hostile/listener.py");
const CALLER: &str = include_str!("../../hostile/caller.py");
/// Calls of `caller.py`.
const CALLS: usize = 6;

/// A task of bob's that listens, and a service of the machine.
struct Listening {
    scene: Scene,
    ports: Value,
    run: String,
}

impl Listening {
    fn in_(app: TestApp) -> Self {
        let scene = Scene::in_(app);
        let storage = scene.server.data().join("workspace/bob");
        let program = ["python3", "-c", LISTENER, storage.to_str().unwrap()];
        let run = run(&scene.bob, "bob", &program, &json!({}));
        wait_for("bob to listen", || storage.join("ports.json").exists());
        let mut ports: Value =
            serde_json::from_slice(&fs::read(storage.join("ports.json")).unwrap()).unwrap();
        let service = TcpListener::bind("127.0.0.1:0").unwrap();
        ports["service"] = json!(service.local_addr().unwrap().port());
        // It ends with the test process.
        std::thread::spawn(move || {
            for connection in service.incoming() {
                let _ = connection.unwrap().write_all(b"the machine");
            }
        });
        Self { scene, ports, run }
    }

    /// The result of each call from a person's task.
    fn calls_of(&self, caller: &Client, project: &str) -> Vec<Line> {
        let run = run(caller, project, &["python3", "-c", CALLER, &self.ports.to_string()], &json!({}));
        let (state, said) = (ended(caller, &run), log(caller, &run));
        assert_eq!(state, "succeeded", "{said}");
        assert!(said.contains("service: the machine"), "what is no task answers all: {said}");
        let lines = lines(&said);
        assert_eq!(lines.len(), CALLS, "{said}");
        lines
    }

    fn end(self) {
        fs::write(self.scene.server.data().join("workspace/bob/over"), "").unwrap();
        assert_eq!(ended(&self.scene.bob, &self.run), "succeeded");
    }
}

fn answered(lines: &[Line]) -> bool {
    lines.iter().all(|(_, by)| matches!(by, Err(said) if said == "it is me"))
}

#[test]
fn a_task_reaches_the_ports_of_its_project_and_of_the_machine_only() {
    let app = TestApp::new();
    match walls(&app) {
        (true, said) if said.contains("ports") => {}
        (_, why) => return eprintln!("skipped: {why}"),
    }
    let listening = Listening::in_(app);
    judge(&listening.calls_of(&listening.scene.alice, "alice"), CALLS);
    let own = listening.calls_of(&listening.scene.bob, "bob");
    assert!(answered(&own), "{own:#?}");
    listening.end();
}

#[test]
fn a_task_reaches_all_ports_where_the_settings_say_so() {
    let mut app = TestApp::new();
    app.set("CUBELOOM_SANDBOX_NETWORK", "false");
    let listening = Listening::in_(app);
    let others = listening.calls_of(&listening.scene.alice, "alice");
    assert!(answered(&others), "{others:#?}");
    listening.end();
}
