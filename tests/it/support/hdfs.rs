//! A real HDFS for a test: the servers of `tests/support/hadoop`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// Ends with its standard input, so also when the test is killed.
pub struct Hdfs {
    child: Child,
    /// Its addresses, and who may do everything there.
    pub said: Value,
}

impl Hdfs {
    pub fn start() -> Self {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let jars =
            Command::new(root.join("tools/jars")).arg(root.join("tests/support/hadoop/pom.xml")).output();
        let jars = jars.expect("it is there");
        assert!(jars.status.success(), "{}", String::from_utf8_lossy(&jars.stderr));
        let mut command = Command::new("/usr/bin/python3");
        command
            .arg(root.join("tests/support/hadoop/hdfs.py"))
            .arg(String::from_utf8_lossy(&jars.stdout).trim());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let said = serde_json::from_str(&line).expect("HDFS starts; its reason is above");
        Self { child, said }
    }
}

impl Drop for Hdfs {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
