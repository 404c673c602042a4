//! A real Kafka for a test: the broker of `tests/support/kafka`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

/// Ends with its standard input, so also when the test is killed.
pub struct Kafka {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// Its addresses, the certificate of the password-protected one, and the users of that one.
    pub facts: Value,
}

impl Kafka {
    pub fn start() -> Self {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let folder = root.join("tests/support/kafka");
        let jars = Command::new(root.join("tools/jars")).arg(folder.join("pom.xml")).output();
        let jars = jars.expect("it is there");
        assert!(jars.status.success(), "{}", String::from_utf8_lossy(&jars.stderr));
        let mut command = Command::new("/usr/bin/python3");
        command.arg(folder.join("broker.py")).arg(String::from_utf8_lossy(&jars.stdout).trim());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("a line");
        let facts = serde_json::from_str(&line).expect("the broker starts; its reason is above");
        Self { child, lines, facts }
    }

    pub fn fact(&self, name: &str) -> &str {
        self.facts[name].as_str().expect("a text")
    }

    /// `kill` or `start`. Returns when done.
    pub fn order(&mut self, verb: &str) {
        let stdin = self.child.stdin.as_mut().expect("its input");
        writeln!(stdin, "{verb}").expect("it reads");
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        assert_eq!(line.trim(), format!("\"{verb}\""), "its reason is above");
    }
}

impl Drop for Kafka {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
