//! Private images: the node pulls with the project's registry account. The registry is a stand-in without
//! images that records the credentials.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;

use super::product::{until, with_cluster};
use super::simulated::frameworks::templates;
use crate::support::TestApp;

const PASSWORD: &str = "password-of-a-test";
/// Basic authentication of `bot` with its password.
const BASIC: &str = "Basic Ym90OnBhc3N3b3JkLW9mLWEtdGVzdA==";

/// A registry without images.
struct Registry {
    host: String,
    /// The received credentials.
    heard: Arc<Mutex<Vec<String>>>,
}

impl Registry {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let into = Arc::clone(&into);
                thread::spawn(move || answer(stream, &into));
            }
        });
        Self { host, heard }
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// Answers one request. A request without credentials gets a challenge.
fn answer(mut stream: TcpStream, heard: &Mutex<Vec<String>>) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let named = |line: String| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("authorization").then(|| value.to_owned())
    };
    let account = lines.take_while(|line| !line.is_empty()).filter_map(named).last();
    let (status, more) = match &account {
        Some(_) => ("404 Not Found", ""),
        None => ("401 Unauthorized", "WWW-Authenticate: Basic realm=\"test\"\r\n"),
    };
    heard.lock().unwrap().extend(account);
    let _ = write!(stream, "HTTP/1.1 {status}\r\n{more}Content-Length: 0\r\nConnection: close\r\n\r\n");
}

#[ignore = "needs a cluster with a real node"]
#[test]
fn an_image_is_pulled_with_the_projects_account_at_its_registry() {
    let registry = Registry::start();
    let mut app = TestApp::new();
    let folder = app.data().join("templates-of-tests");
    templates(&folder);
    let private = json!({
        "apiVersion": "cubeloom/v1", "kind": "TaskTemplate", "name": "private", "version": "1.0.0", "group": "tests",
        "label": {"en": "Private", "zh": "Private"}, "help": {"en": "Nothing.", "zh": "Nothing."}, "framework": "single",
        "image": format!("{}/private:1", registry.host),
        "parameters": {"type": "object"},
        "roles": [{"name": "worker", "replicas": 1, "resources": {"cpu": "100m", "memory": "64Mi"}}],
        "command": ["true"],
    });
    fs::create_dir_all(folder.join("private")).unwrap();
    fs::write(folder.join("private/template.yaml"), private.to_string()).unwrap();
    app.set("CUBELOOM_SERVER_TEMPLATES", folder.display().to_string());
    let (_server, admin, _mounted) = with_cluster(app);

    admin.post("/projects/default/secrets", &json!({"name": "password", "value": PASSWORD})).expect(201);
    let account = json!({"name": "test", "host": registry.host, "user": "bot", "secret": "password"});
    admin.post("/projects/default/registries", &account).expect(201);
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "pulled", "cluster": "node",
        "tasks": [{"name": "pulled", "template": "private"}],
    });
    let wanted = json!({"document": document.to_string()});
    let started = admin.post("/projects/default/runs", &wanted).expect(201).json();
    let run = started["run"]["id"].as_str().unwrap();
    until("the registry is asked with the account", || registry.heard().iter().any(|heard| heard == BASIC));
    admin.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    until("it ends", || admin.get(&format!("/runs/{run}")).expect(200).json()["state"] == "cancelled");
}
