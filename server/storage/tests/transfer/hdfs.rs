//! To and from a real HDFS: a NameNode and a DataNode. One test, since starting them takes longer than each
//! scenario; all scenarios run even if some fail.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use cubeloom_storage::transfer::TransferSpec;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::helpers::{copy, names, spec, write};
use crate::program;

mod faults;
mod fetching;
mod sending;

const MIB: usize = 1 << 20;

/// The servers of `tests/support/hadoop`; they end when their standard input is closed, so also when this
/// process dies.
struct Hdfs {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// By RPC, and over HTTP.
    addresses: [String; 2],
    /// The servers' data folder.
    folder: PathBuf,
}

impl Hdfs {
    fn start() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let pom = root.join("tests/support/hadoop/pom.xml");
        let jars = Command::new(root.join("tools/jars")).arg(&pom).output().unwrap();
        assert!(jars.status.success(), "tools/jars: its reason is above; it needs Debian's maven");
        let jars = String::from_utf8(jars.stdout).unwrap();
        let mut command = Command::new("/usr/bin/python3");
        command.arg(root.join("tests/support/hadoop/hdfs.py")).arg(jars.trim());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&line).expect("it starts; its reason is above");
        let addresses = ["hdfs", "webhdfs"].map(|key| facts[key].as_str().unwrap().to_owned());
        let folder = Path::new(facts["conf"].as_str().unwrap()).parent().unwrap().to_owned();
        Self { orders: child.stdin.take(), child, answers, addresses, folder }
    }

    /// Kills, starts, freezes or thaws a server.
    fn order(&mut self, order: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert!(line.contains(order), "{line}");
    }
}

impl Drop for Hdfs {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.child.wait();
    }
}

type Scenario = for<'a> fn(&'a mut Hdfs) -> LocalBoxFuture<'a, ()>;

#[tokio::test(flavor = "multi_thread")]
async fn hdfs() {
    let scenarios: [(&str, Scenario); 12] = [
        ("there and back", |hdfs| fetching::there_and_back(hdfs).boxed_local()),
        ("partitions", |hdfs| fetching::partitions(hdfs).boxed_local()),
        ("waiting", |hdfs| fetching::waiting(hdfs).boxed_local()),
        ("merging", |hdfs| fetching::merging(hdfs).boxed_local()),
        ("pushed twice", |hdfs| sending::pushed_twice(hdfs).boxed_local()),
        ("broken off", |hdfs| sending::broken_off(hdfs).boxed_local()),
        ("somebody else", |hdfs| sending::somebody_else(hdfs).boxed_local()),
        ("full", |hdfs| sending::full(hdfs).boxed_local()),
        ("no name node", |hdfs| faults::no_name_node(hdfs).boxed_local()),
        ("frozen", |hdfs| faults::frozen(hdfs).boxed_local()),
        ("spoilt", |hdfs| faults::spoilt(hdfs).boxed_local()),
        ("no data node", |hdfs| faults::no_data_node(hdfs).boxed_local()),
    ];
    let mut hdfs = Hdfs::start();
    let mut failed = Vec::new();
    for (name, scenario) in scenarios {
        let began = Instant::now();
        if AssertUnwindSafe(scenario(&mut hdfs)).catch_unwind().await.is_err() {
            failed.push(name);
        }
        println!("{name}: {:.1} s", began.elapsed().as_secs_f64());
    }
    assert!(failed.is_empty(), "failed: {failed:?}; what is wrong is told above");
}

fn hdfs_spec(from: &str, to: &str) -> TransferSpec {
    let mut spec = spec(&[from], to);
    spec.env = BTreeMap::from([("HADOOP_USER_NAME".to_owned(), user())]);
    spec.chunk = MIB as u64;
    spec.attempts = 3;
    spec.silence = Duration::from_secs(10);
    spec
}

/// The user who started the servers is their superuser.
fn user() -> String {
    String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap().trim().to_owned()
}

async fn put(hdfs: &Hdfs, path: &str, bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path().join("file"), bytes);
    copy(&hdfs_spec(file.to_str().unwrap(), &format!("{}/{path}", hdfs.addresses[0]))).await.unwrap();
}

/// All files of a folder, including hidden ones.
async fn content_of(hdfs: &Hdfs, folder: &str) -> Vec<(String, Vec<u8>)> {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("got");
    copy(&hdfs_spec(&format!("{}/{folder}/", hdfs.addresses[0]), &format!("{}/", to.display())))
        .await
        .unwrap();
    let read = |name: String| (name.clone(), std::fs::read(to.join(name)).unwrap());
    names(&to).into_iter().map(read).collect()
}

/// Runs the program; returns its exit code and output.
fn call(dir: &Path, user: &str, args: &[&str]) -> (Option<i32>, String, serde_json::Value) {
    let outputs = write(dir.join("outputs.jsonl"), b"");
    let env = [
        ("HADOOP_USER_NAME", user),
        ("CUBELOOM_RUN_DIR", dir.to_str().unwrap()),
        ("CUBELOOM_OUTPUTS", outputs.to_str().unwrap()),
    ];
    let (code, said) = program::call_apart(&[&["transfer", "--silence", "10"], args].concat(), &env);
    let text = std::fs::read_to_string(&outputs).unwrap();
    let last =
        text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()).next_back();
    (code, said, last.map(|last| last["output"].clone()).unwrap_or_default())
}
