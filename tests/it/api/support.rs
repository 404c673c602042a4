//! A real `cubeloom serve` of the test's own, and clients that speak to it as each kind of person.
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

/// The project that people are members of.
pub const PROJECT: &str = "default";

/// Everybody's password, where one is needed.
pub const PASSWORD: &str = "correct horse battery";

/// A kind of person, with what they show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// Administers the platform.
    Administrator,
    /// Owns the project `default`.
    Owner,
    /// Edits in it.
    Editor,
    /// Looks at it.
    Viewer,
    /// Has an account and is a member of nothing.
    Stranger,
    /// An administrator with a token that may only read.
    Reader,
    /// An administrator with a token that may look, start and stop runs.
    Runner,
    /// An administrator with a token for whatever they may do in projects.
    Writer,
    /// An administrator with a token for everything in the project `default`, and nothing elsewhere.
    Bound,
    /// Had a token, which was revoked.
    Revoked,
    /// Shows nothing.
    Anonymous,
}

impl Who {
    /// Everybody.
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

    /// What they sign in with.
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

    /// Words of `cubeloom user add` beside the name.
    fn account(self) -> &'static [&'static str] {
        match self {
            Self::Administrator | Self::Reader | Self::Runner | Self::Writer | Self::Bound => &["--admin"],
            Self::Owner => &["--project", PROJECT, "--role", "owner"],
            Self::Editor => &["--project", PROJECT, "--role", "editor"],
            Self::Viewer => &["--project", PROJECT, "--role", "viewer"],
            Self::Stranger | Self::Revoked | Self::Anonymous => &[],
        }
    }

    /// Words of `cubeloom token create` beside the name.
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

/// A server that answers. It is stopped when this is dropped, and nothing of it may then run any more.
pub struct Server {
    // Before the folder, so that it ends first.
    running: RefCell<Option<Running>>,
    app: TestApp,
    url: RefCell<String>,
    tokens: RefCell<BTreeMap<Who, String>>,
}

impl Server {
    /// Starts one, without any account.
    pub fn start() -> Self {
        Self::start_in(TestApp::new())
    }

    /// Starts one on a data folder, or with settings, of the caller's.
    pub fn start_in(app: TestApp) -> Self {
        let server =
            Self { running: RefCell::default(), app, url: RefCell::default(), tokens: RefCell::default() };
        server.run();
        server
    }

    /// Its address, e.g. `http://127.0.0.1:40123`, without a slash at the end.
    pub fn url(&self) -> String {
        self.url.borrow().clone()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.running.borrow().as_ref().expect("it runs").pid()
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.app.path("server.log")).unwrap_or_default()
    }

    /// Does something while it stands still.
    pub fn paused(&self, work: impl FnOnce()) {
        let running = self.running.borrow();
        let running = running.as_ref().expect("it runs");
        running.signal(Signal::STOP);
        work();
        running.signal(Signal::CONT);
    }

    /// Kills it, as a crash would.
    pub fn kill(&self) {
        drop(self.running.borrow_mut().take());
    }

    /// Tells it to end, and waits until it has.
    pub fn stop(&self) {
        let running = self.running.borrow_mut().take().expect("it runs");
        running.signal(Signal::TERM);
        let done = running.wait();
        assert_eq!(done.code, Some(0), "{}", self.log());
    }

    /// Starts it again after [`Server::kill`], at another port.
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

    /// A client with a token of this person's; the account is made when it is first asked for.
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

    /// A client with a token that the test has got itself, or without any.
    pub fn with_token(&self, token: Option<String>) -> Client {
        Client::new(self.url(), token)
    }

    /// Makes an account with [`PASSWORD`]: `user("eve", &["--admin"])`.
    pub fn user(&self, name: &str, words: &[&str]) {
        let words = [&["user", "add", name, "--password-stdin"], words].concat();
        let done = self.app.call_with_input(&words, PASSWORD);
        assert_eq!(done.code, Some(0), "{words:?}: {done:#?}");
    }

    /// Makes a token of somebody's: `token("eve", &["--scope", "read"])`.
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

    /// Asks its database, SQLite, in its own words, or changes it: as if time had passed while nobody served. The rows.
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

    /// Sends one request, without a body, and reads only the answer's head: for streams that do not end.
    pub fn head_of(&self, client: &Client, method: Method, path: &str) -> (u16, String) {
        let answer = client.request(method, path).timeout(Duration::from_secs(20)).send().expect("an answer");
        let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        (answer.status().as_u16(), kind.unwrap_or_default().to_owned())
    }
}

/// The commands of the data folder: `server.expect(0, &["runs"])`.
impl Deref for Server {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}
