//! A test's own real `cubeloom serve`, and clients that act as each kind of person.
//!
//! ```ignore
//! let server = Server::start();
//! let editor = server.as_(Who::Editor);
//! let made = editor.post("/projects/default/runs", &json!({...})).expect(201).json();
//! server.as_(Who::Viewer).delete(&format!("/runs/{id}"), "\"1\"").expect(403).problem("forbidden");
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::process::Command;
use std::time::Duration;

use reqwest::Method;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Running, TestApp, wait_for};

pub mod client;

pub use client::{Answer, Client};

/// The project with the members.
pub const PROJECT: &str = "default";

/// The password of every account that needs one.
pub const PASSWORD: &str = "correct horse battery";

/// A kind of person, with their credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// Administers the platform.
    Administrator,
    /// Owns the project `default`.
    Owner,
    /// Edits in it.
    Editor,
    /// Views it.
    Viewer,
    /// Has an account but no membership.
    Stranger,
    /// An administrator with a read-only token.
    Reader,
    /// An administrator with a token that may read, start and stop runs.
    Runner,
    /// An administrator with a token for everything that they may do in projects.
    Writer,
    /// An administrator with a token limited to the project `default`.
    Bound,
    /// Has a revoked token.
    Revoked,
    /// Has no credentials.
    Anonymous,
}

impl Who {
    pub const ALL: [Self; 11] = [
        Self::Administrator,
        Self::Owner,
        Self::Editor,
        Self::Viewer,
        Self::Stranger,
        Self::Reader,
        Self::Runner,
        Self::Writer,
        Self::Bound,
        Self::Revoked,
        Self::Anonymous,
    ];

    /// The user name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Administrator => "ada",
            Self::Owner => "olga",
            Self::Editor => "emil",
            Self::Viewer => "vera",
            Self::Stranger => "sten",
            Self::Reader => "rita",
            Self::Runner => "rune",
            Self::Writer => "wanda",
            Self::Bound => "bodo",
            Self::Revoked => "rolf",
            Self::Anonymous => "nobody",
        }
    }

    /// Arguments of `cubeloom user add` besides the name.
    fn account(self) -> &'static [&'static str] {
        match self {
            Self::Administrator | Self::Reader | Self::Runner | Self::Writer | Self::Bound => &["--admin"],
            Self::Owner => &["--project", PROJECT, "--role", "owner"],
            Self::Editor => &["--project", PROJECT, "--role", "editor"],
            Self::Viewer => &["--project", PROJECT, "--role", "viewer"],
            Self::Stranger | Self::Revoked | Self::Anonymous => &[],
        }
    }

    /// Arguments of `cubeloom token create` besides the name.
    fn rights(self) -> &'static [&'static str] {
        match self {
            Self::Reader => &["--scope", "read"],
            Self::Runner => &["--scope", "run"],
            Self::Writer => &["--scope", "write"],
            Self::Bound => &["--scope", "admin", "--project", PROJECT],
            _ => &["--scope", "admin"],
        }
    }
}

/// A running server. Dropping this stops it, and checks that no process of it is left.
pub struct Server {
    // Declared before the folder, so that it is dropped first.
    running: RefCell<Option<Running>>,
    app: TestApp,
    url: RefCell<String>,
    tokens: RefCell<BTreeMap<Who, String>>,
}

impl Server {
    /// Starts a server without accounts.
    pub fn start() -> Self {
        Self::start_in(TestApp::new())
    }

    /// Starts a server with the caller's data folder and settings.
    pub fn start_in(app: TestApp) -> Self {
        let server =
            Self { running: RefCell::default(), app, url: RefCell::default(), tokens: RefCell::default() };
        server.run();
        server
    }

    /// The base URL without a trailing slash, e.g. `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        self.url.borrow().clone()
    }

    pub fn pid(&self) -> u32 {
        self.running.borrow().as_ref().expect("it runs").pid()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.app.path("server.log")).unwrap_or_default()
    }

    /// Runs `work` while the server process is stopped.
    pub fn paused(&self, work: impl FnOnce()) {
        let running = self.running.borrow();
        let running = running.as_ref().expect("it runs");
        running.signal(Signal::STOP);
        work();
        running.signal(Signal::CONT);
    }

    /// Kills the server, as a crash would.
    pub fn kill(&self) {
        drop(self.running.borrow_mut().take());
    }

    /// Stops the server, and waits until it has exited.
    pub fn stop(&self) {
        let running = self.running.borrow_mut().take().expect("it runs");
        running.signal(Signal::TERM);
        let done = running.wait();
        assert_eq!(done.code, Some(0), "{}", self.log());
    }

    /// Starts the server again after [`Server::kill`], on another port.
    pub fn run(&self) {
        let log = self.app.path("server.log");
        let running = self.app.start_logged(&["serve"], &log);
        let pid = running.pid();
        let file = self.app.data().join("server.json");
        let read = || -> Option<Value> { serde_json::from_str(&fs::read_to_string(&file).ok()?).ok() };
        wait_for("the server to be ready", || read().is_some_and(|said| said["pid"] == pid));
        let listen =
            read().and_then(|said| said["listen"].as_str().map(ToOwned::to_owned)).expect("an address");
        *self.url.borrow_mut() = format!("http://{listen}");
        *self.running.borrow_mut() = Some(running);
    }

    /// A client with this person's token. The first call creates the account.
    pub fn as_(&self, who: Who) -> Client {
        if who == Who::Anonymous {
            return self.with_token(None);
        }
        let known = self.tokens.borrow().get(&who).cloned();
        let token = known.unwrap_or_else(|| {
            let token = self.make(who);
            self.tokens.borrow_mut().insert(who, token.clone());
            token
        });
        self.with_token(Some(token))
    }

    /// A client with the given token, or without one.
    pub fn with_token(&self, token: Option<String>) -> Client {
        Client::new(self.url(), token)
    }

    /// Creates an account with [`PASSWORD`]: `user("eve", &["--admin"])`.
    pub fn user(&self, name: &str, words: &[&str]) {
        let words = [&["user", "add", name, "--password-stdin"], words].concat();
        let done = self.app.call_with_input(&words, PASSWORD);
        assert_eq!(done.code, Some(0), "{words:?}: {done:#?}");
    }

    /// Creates a token of a person: `token("eve", &["--scope", "read"])`.
    pub fn token(&self, name: &str, words: &[&str]) -> String {
        let words = [&["token", "create", "--user", name], words].concat();
        let done = self.app.expect(0, &words);
        let token = done.out.split_whitespace().find(|word| word.starts_with("clt_"));
        token.unwrap_or_else(|| panic!("no token in {done:#?}")).to_owned()
    }

    fn make(&self, who: Who) -> String {
        self.user(who.name(), who.account());
        let token = self.token(who.name(), who.rights());
        if who == Who::Revoked {
            // clt_<id>_<secret>
            let id = token.split('_').nth(1).expect("an id");
            self.app.expect(0, &["token", "revoke", id]);
        }
        token
    }

    /// Runs a statement on its SQLite database, for example to simulate elapsed time. Returns the rows.
    pub fn sql(&self, statement: &str) -> Vec<Vec<Value>> {
        const ASK: &str = "import json, sqlite3, sys\nwith sqlite3.connect(sys.argv[1], timeout=20) as database:\n    \
                           print(json.dumps(database.execute(sys.argv[2]).fetchall()))";
        let file = self.data().join("db/cubeloom.sqlite");
        let output = Command::new("/usr/bin/python3")
            .args(["-I", "-c", ASK])
            .args([file.as_os_str(), statement.as_ref()])
            .output()
            .expect("Debian's Python");
        let said = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{statement}: {said}"))
    }

    /// Sends a request without a body and reads only the response head: for endless streams.
    pub fn head_of(&self, client: &Client, method: Method, path: &str) -> (u16, String) {
        let answer = client.request(method, path).timeout(Duration::from_secs(20)).send().expect("an answer");
        let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        (answer.status().as_u16(), kind.unwrap_or_default().to_owned())
    }
}

/// Gives access to the commands of the data folder: `server.expect(0, &["runs"])`.
impl Deref for Server {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}
