//! A real HDFS for a test, optionally with a real YARN: the servers of `tests/support/hadoop`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::PATIENCE;

/// Ends with its standard input, so also when the test is killed.
pub struct Hdfs {
    child: Child,
    answers: BufReader<ChildStdout>,
    /// Its addresses, and its superuser.
    pub said: Value,
}

impl Hdfs {
    pub fn start() -> Self {
        Self::of(&["pom.xml"])
    }

    /// Adds YARN, in which the user `etl` has a queue of this name.
    pub fn with_yarn() -> Self {
        Self::of(&["pom.xml", "yarn/pom.xml"])
    }

    fn of(projects: &[&str]) -> Self {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let hadoop = root.join("tests/support/hadoop");
        let jars = |project: &&str| {
            let jars = Command::new(root.join("tools/jars")).arg(hadoop.join(project)).output();
            let jars = jars.expect("it is there");
            assert!(jars.status.success(), "{}", String::from_utf8_lossy(&jars.stderr));
            String::from_utf8_lossy(&jars.stdout).trim().to_owned()
        };
        let mut command = Command::new("/usr/bin/python3");
        command.arg(hadoop.join("hdfs.py")).args(projects.iter().map(jars));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut answers = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        answers.read_line(&mut line).expect("a line");
        let said = serde_json::from_str(&line).expect("the servers start; their reason is above");
        Self { child, answers, said }
    }

    /// One of its facts.
    pub fn says(&self, name: &str) -> &str {
        self.said[name].as_str().expect("a text")
    }

    /// Kills, starts, freezes or thaws a server: `kill resourcemanager`.
    pub fn order(&mut self, order: &str) {
        writeln!(self.child.stdin.as_mut().expect("its input"), "{order}").expect("it reads");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("a line");
        assert!(line.contains(order), "{line}");
    }

    /// A server's response over HTTP.
    #[track_caller]
    pub fn answer(url: &str) -> Value {
        // Loopback without TLS, but the client requires a provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::blocking::Client::builder().no_proxy().timeout(PATIENCE).build();
        let answer = http.and_then(|http| http.get(url).send()).and_then(reqwest::blocking::Response::json);
        answer.unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    /// The states of YARN's applications, by id.
    pub fn applications(&self) -> Vec<(String, String)> {
        let found = Self::answer(&format!("{}/apps", self.says("yarn")));
        let apps = found["apps"]["app"].as_array().into_iter().flatten();
        let text = |app: &Value, name: &str| app[name].as_str().expect("a text").to_owned();
        let mut apps: Vec<_> = apps.map(|app| (text(app, "id"), text(app, "state"))).collect();
        apps.sort();
        apps
    }
}

impl Drop for Hdfs {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
