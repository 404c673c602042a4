//! A real RabbitMQ for a test: the broker of `tests/support/rabbitmq`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

/// Ends with its standard input, so also when the test is killed.
pub struct Amqp {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// Its address, and the credentials of an administrator and of a user who may only read and write.
    pub said: Value,
}

impl Amqp {
    pub fn start() -> Self {
        let mut command = Command::new("/usr/bin/python3");
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/support/rabbitmq/broker.py"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("a line");
        let said = serde_json::from_str(&line).expect("the broker starts; its reason is above");
        Self { child, lines, said }
    }

    /// One of its facts.
    pub fn fact(&self, name: &str) -> &str {
        self.said[name].as_str().expect("a text")
    }

    /// `stop`, `kill`, `start`, `freeze` or `thaw`. Returns when done.
    pub fn order(&mut self, verb: &str) {
        let stdin = self.child.stdin.as_mut().expect("its input");
        writeln!(stdin, "{verb}").expect("it reads");
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        assert_eq!(line.trim(), format!("\"{verb}\""), "its reason is above");
    }
}

impl Drop for Amqp {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
