//! A real S3 server for a test.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// An S3 server with the bucket `data`. It ends when its standard input is closed.
pub struct S3 {
    child: Child,
    pub said: Value,
}

impl S3 {
    pub fn start() -> Self {
        let mut command = Command::new("/usr/bin/python3");
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/support/s3/gateway.py")).args(["--bucket", "data"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let said = serde_json::from_str(&line).expect("the S3 server starts; its reason is above");
        Self { child, said }
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
