//! To and from a real HDFS: a NameNode and a DataNode. One test, since starting them takes longer than each scenario; all
//! of them are run whatever becomes of the others.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cubeloom_storage::transfer::{Outcome, Progress, Stop, TransferError, TransferSpec, is_there, transfer};
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::helpers::{content, copy, names, sha256, spec, write};
use crate::program;
use crate::web_server::{Behaviour, WebServer};

const MIB: usize = 1 << 20;

/// The servers of `tests/support/hadoop`; they end when their standard input is closed, so also when this process dies.
struct Hdfs {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// By its own protocol, and over HTTP.
    addresses: [String; 2],
    /// Where all that the servers keep lies.
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

    /// Has a server killed, started, frozen or thawed.
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
        ("there and back", |hdfs| there_and_back(hdfs).boxed_local()),
        ("partitions", |hdfs| partitions(hdfs).boxed_local()),
        ("waiting", |hdfs| waiting(hdfs).boxed_local()),
        ("merging", |hdfs| merging(hdfs).boxed_local()),
        ("pushed twice", |hdfs| pushed_twice(hdfs).boxed_local()),
        ("broken off", |hdfs| broken_off(hdfs).boxed_local()),
        ("somebody else", |hdfs| somebody_else(hdfs).boxed_local()),
        ("full", |hdfs| full(hdfs).boxed_local()),
        ("no name node", |hdfs| no_name_node(hdfs).boxed_local()),
        ("frozen", |hdfs| frozen(hdfs).boxed_local()),
        ("spoilt", |hdfs| spoilt(hdfs).boxed_local()),
        ("no data node", |hdfs| no_data_node(hdfs).boxed_local()),
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

/// Who started the servers may do everything on them.
fn user() -> String {
    String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap().trim().to_owned()
}

async fn put(hdfs: &Hdfs, path: &str, bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path().join("file"), bytes);
    copy(&hdfs_spec(file.to_str().unwrap(), &format!("{}/{path}", hdfs.addresses[0]))).await.unwrap();
}

async fn there_and_back(hdfs: &mut Hdfs) {
    let bytes = content(5 * MIB + 17, 1);
    for (kind, address) in hdfs.addresses.iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let file = write(dir.path().join("in/big file.bin"), &bytes);
        write(dir.path().join("in/sub/empty"), b"");
        let folder = format!("{address}/back-{kind}/");
        let put = copy(&hdfs_spec(&format!("{}/", dir.path().join("in").display()), &folder)).await.unwrap();
        assert_eq!(put.files.len(), 2);
        let back = dir.path().join("out");
        let got = copy(&hdfs_spec(&folder, &format!("{}/", back.display()))).await.unwrap();
        assert_eq!(names(&back), ["big file.bin", "sub/empty"], "{address}");
        assert!(std::fs::read(back.join("big file.bin")).unwrap() == std::fs::read(&file).unwrap());
        assert!(got.files.iter().any(|file| file.sha256.as_deref() == Some(&sha256(&bytes))));
        // Nothing of it is fetched twice.
        let again = copy(&hdfs_spec(&folder, &format!("{}/", back.display()))).await.unwrap();
        assert_eq!(again.skipped(), 2, "{address}");
        let pattern = format!("{address}/back-{kind}/**/e*");
        copy(&hdfs_spec(&pattern, &format!("{}/", dir.path().join("some").display()))).await.unwrap();
        assert_eq!(names(&dir.path().join("some")), ["sub/empty"]);
        let gone = copy(&hdfs_spec(&format!("{address}/nowhere/"), &format!("{}/", back.display()))).await;
        assert!(matches!(gone, Err(TransferError::Missing { .. })), "{gone:?}");
        let there = async |path: &str, inner| {
            is_there(&format!("{address}/{path}"), inner, Duration::from_secs(10)).await
        };
        let folder = format!("back-{kind}");
        for (path, expected) in [
            (format!("{folder}/sub/empty"), true),
            (format!("{folder}/sub/"), true),
            (format!("{folder}/sub"), false),
            (format!("{folder}/sub/none"), false),
            ("nowhere/".into(), false),
        ] {
            assert_eq!(there(&path, true).await.unwrap(), expected, "{address} {path}");
        }
        let refused = there(&format!("{folder}/sub/empty"), false).await.unwrap_err();
        assert!(refused.to_string().contains("private_endpoints"), "{refused}");
    }
}

/// Runs the program; its exit code, and what it wrote.
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

async fn partitions(hdfs: &mut Hdfs) {
    for day in ["2026-11-18", "2026-11-20", "2026-11-21"] {
        for part in 0..2 {
            let text = format!("{day},{part}\n");
            put(hdfs, &format!("logs/dt={day}/part-{part}.csv"), text.as_bytes()).await;
        }
        put(hdfs, &format!("logs/dt={day}/_temporary/0/part-9.csv"), b"half\n").await;
    }
    put(hdfs, "logs/dt=2026-11-18/_SUCCESS", b"").await;
    put(hdfs, "logs/dt=2026-11-20/_SUCCESS", b"").await;
    let dir = tempfile::tempdir().unwrap();
    let from = format!("{}/logs/dt=%Y-%m-%d/", hdfs.addresses[0]);
    let pull = |first: &str, last: &str, rest: &[&str]| {
        let days = ["--from", &from, "--to", "in/", "--first", first, "--last", last];
        call(dir.path(), &user(), &[&days[..], &["--marker", "_SUCCESS", "--skip-hidden"], rest].concat())
    };
    let (code, said, output) = pull("2026-11-18", "2026-11-18", &[]);
    assert_eq!((code, &output["files"]), (Some(0), &2.into()), "{said}");
    assert_eq!(names(&dir.path().join("in")), ["dt=2026-11-18/part-0.csv", "dt=2026-11-18/part-1.csv"]);
    // A day that is not there, and one that is not complete.
    let (code, said, _) = pull("2026-11-18", "2026-11-19", &[]);
    assert!(
        code == Some(1) && said.contains("dt=2026-11-19/") && said.contains("no _SUCCESS"),
        "{code:?} {said}"
    );
    let (code, said, _) = pull("2026-11-20", "2026-11-21", &[]);
    assert!(code == Some(1) && said.contains("dt=2026-11-21/"), "{said}");
    let (code, said, output) = pull("2026-11-18", "2026-11-21", &["--missing", "skip"]);
    assert_eq!((code, &output["files"], &output["skipped"]), (Some(0), &4.into(), &2.into()), "{said}");
    let left_out: Vec<&str> =
        output["left_out"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(left_out.len() == 2 && left_out[0].contains("2026-11-19"), "{left_out:?}");
    // One file a day, under a name of its own.
    let file = format!("{}/logs/dt=%Y-%m-%d/part-0.csv", hdfs.addresses[0]);
    let days = ["--from", &file, "--to", "days/%d.csv", "--first", "2026-11-20", "--last", "2026-11-21"];
    let (code, said, _) = call(dir.path(), &user(), &days);
    assert_eq!(
        (code, names(&dir.path().join("days"))),
        (Some(0), vec!["20.csv".into(), "21.csv".into()]),
        "{said}"
    );
}

async fn waiting(hdfs: &mut Hdfs) {
    put(hdfs, "late/dt=2026-11-21/part-0.csv", b"a\n").await;
    let dir = tempfile::tempdir().unwrap();
    let mut spec = hdfs_spec(
        &format!("{}/late/dt=2026-11-21/", hdfs.addresses[0]),
        &format!("{}/", dir.path().display()),
    );
    spec.marker = Some("_SUCCESS".into());
    spec.wait = Duration::from_secs(60);
    let soon = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        put(hdfs, "late/dt=2026-11-21/part-1.csv", b"b\n").await;
        put(hdfs, "late/dt=2026-11-21/_SUCCESS", b"").await;
    };
    let (done, ()) = tokio::join!(copy(&spec), soon);
    assert_eq!(done.unwrap().files.len(), 2);
    assert_eq!(names(dir.path()), ["part-0.csv", "part-1.csv"]);
    // Without a marker, the folder itself is waited for.
    let next = format!("{}/late/dt=2026-11-22/", hdfs.addresses[0]);
    let mut spec = hdfs_spec(&next, &format!("{}/", dir.path().join("next").display()));
    spec.wait = Duration::from_secs(60);
    let soon = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        put(hdfs, "late/dt=2026-11-22/part-0.csv", b"a\n").await;
    };
    let (done, ()) = tokio::join!(copy(&spec), soon);
    assert_eq!(done.unwrap().files.len(), 1);
}

async fn merging(hdfs: &mut Hdfs) {
    for part in 0..20 {
        let end = if part % 3 == 0 { "" } else { "\n" };
        put(hdfs, &format!("small/part-{part:02}.csv"), format!("a,b\n{part},1{end}").as_bytes()).await;
    }
    put(hdfs, "small/large.csv", &content(MIB, 4)).await;
    let dir = tempfile::tempdir().unwrap();
    let mut spec = hdfs_spec(&format!("{}/small/", hdfs.addresses[0]), &format!("{}/", dir.path().display()));
    (spec.merge, spec.header) = (Some(100), true);
    let merged = copy(&spec).await.unwrap();
    let mut rows = Vec::new();
    for name in names(dir.path()).iter().filter(|name| name.starts_with("merged")) {
        let text = std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert!(text.starts_with("a,b\n") && text.len() <= 100, "{text:?}");
        rows.extend(text.lines().skip(1).map(str::to_owned));
    }
    assert_eq!(rows, (0..20).map(|part| format!("{part},1")).collect::<Vec<_>>());
    assert!(merged.files.len() < 6, "{merged:?}");
    assert_eq!(std::fs::read(dir.path().join("large.csv")).unwrap(), content(MIB, 4));
    assert_eq!(copy(&spec).await.unwrap().skipped(), merged.files.len() as u64);
    // What is not lines cannot be merged.
    put(hdfs, "small/table.parquet", b"PAR1").await;
    let error = copy(&spec).await.unwrap_err().to_string();
    assert!(error.contains("table.parquet") && error.contains("cannot be merged"), "{error}");
    put(hdfs, "rows/000000_0", b"ORC and so on").await;
    put(hdfs, "rows/000001_0", b"ORC and so on").await;
    let rows = spec_of_merge(&format!("{}/rows/", hdfs.addresses[0]), dir.path());
    let error = copy(&rows).await.unwrap_err().to_string();
    assert!(error.contains("000000_0") && error.contains("more than lines"), "{error}");
    put(hdfs, "tars/a.tar.gz", b"x").await;
    let tars = spec_of_merge(&format!("{}/tars/", hdfs.addresses[0]), dir.path());
    assert!(copy(&tars).await.unwrap_err().to_string().contains("cannot be merged"));
}

fn spec_of_merge(from: &str, to: &Path) -> TransferSpec {
    let mut spec = hdfs_spec(from, &format!("{}/", to.display()));
    spec.merge = Some(1 << 20);
    spec
}

async fn pushed_twice(hdfs: &mut Hdfs) {
    for address in &hdfs.addresses {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.csv", "b.csv", "c.csv"] {
            write(dir.path().join("out").join(name), name.as_bytes());
        }
        // That of who made the files is not sent: it would say too early that all are there.
        write(dir.path().join("out/_SUCCESS"), b"of another");
        let folder = format!("{address}/pushed/");
        let mut push = hdfs_spec(&format!("{}/", dir.path().join("out").display()), &folder);
        push.write_marker = Some("_SUCCESS".into());
        assert_eq!(copy(&push).await.unwrap().skipped(), 0, "{address}");
        assert_eq!(copy(&push).await.unwrap().skipped(), 3, "{address}: what was sent is known");
        write(dir.path().join("out/b.csv"), b"another");
        let again = copy(&push).await.unwrap();
        assert_eq!(again.skipped(), 2, "{address}");
        let back = dir.path().join("back");
        copy(&hdfs_spec(&folder, &format!("{}/", back.display()))).await.unwrap();
        assert_eq!(names(&back), ["_SUCCESS", "a.csv", "b.csv", "c.csv"]);
        assert_eq!(std::fs::read_to_string(back.join("b.csv")).unwrap(), "another");
        // What somebody else has changed there is sent anew.
        put(hdfs, "pushed/a.csv", b"changed").await;
        assert_eq!(copy(&push).await.unwrap().skipped(), 2, "{address}");
    }
}

/// A push that fails half-way leaves what was there, and nothing beside it; a small file and one of several blocks.
async fn broken_off(hdfs: &mut Hdfs) {
    for (size, name) in [(3 * MIB, "small.bin"), (20 * MIB, "large.bin")] {
        let bytes = content(size, 9);
        for address in hdfs.addresses.clone() {
            put(hdfs, &format!("broken/{name}"), b"old").await;
            let source = WebServer::start(Behaviour {
                bytes: bytes.clone(),
                dies_after: Some(size / 2),
                ..Behaviour::default()
            })
            .await;
            let target = format!("{address}/broken/{name}");
            let mut push = hdfs_spec(&source.url("data.bin"), &target);
            push.attempts = 1;
            copy(&push).await.unwrap_err();
            let dir = tempfile::tempdir().unwrap();
            let all = |to: &str| {
                hdfs_spec(&format!("{address}/broken/"), &format!("{}/", dir.path().join(to).display()))
            };
            copy(&all("kept")).await.unwrap();
            assert_eq!(std::fs::read(dir.path().join("kept").join(name)).unwrap(), b"old", "{target}");
            // The whole of it takes the place of what was there.
            source.change(|behaviour| behaviour.dies_after = None);
            copy(&hdfs_spec(&source.url("data.bin"), &target)).await.unwrap();
            copy(&all("whole")).await.unwrap();
            assert_eq!(
                sha256(&std::fs::read(dir.path().join("whole").join(name)).unwrap()),
                sha256(&bytes),
                "{target}"
            );
            for folder in ["kept", "whole"] {
                let beside: Vec<String> = names(&dir.path().join(folder));
                assert!(beside.iter().all(|name| name.ends_with(".bin")), "{beside:?}");
            }
        }
    }
}

/// Files of others are not read, and not written over, and the reason is told; by both protocols.
async fn somebody_else(hdfs: &mut Hdfs) {
    put(hdfs, "own/secret.csv", b"secret\n").await;
    put(hdfs, "own/mine.csv", b"old\n").await;
    change(hdfs, "own?op=SETPERMISSION&permission=700").await;
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("mine.csv"), b"mine\n");
    for address in &hdfs.addresses {
        let (code, said, _) = call(
            dir.path(),
            "stranger",
            &["--from", &format!("{address}/own/secret.csv"), "--to", "got.csv"],
        );
        assert!(code == Some(1) && said.contains("access was refused"), "{said}");
        let (code, said, _) =
            call(dir.path(), "stranger", &["--from", "mine.csv", "--to", &format!("{address}/own/mine.csv")]);
        assert!(code == Some(1) && said.contains("access was refused"), "{said}");
        assert!(!dir.path().join("got.csv").exists());
    }
    assert_eq!(
        content_of(hdfs, "own").await,
        [("mine.csv".into(), b"old\n".to_vec()), ("secret.csv".into(), b"secret\n".to_vec())]
    );
}

/// Has the NameNode change something, as whoever may do everything.
async fn change(hdfs: &Hdfs, what: &str) {
    let address = hdfs.addresses[1].replace("webhdfs", "http");
    let url = format!("{address}/webhdfs/v1/{what}&user.name={}", user());
    let answer = reqwest::Client::new().put(url).send().await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
}

/// All files of a folder, hidden ones too.
async fn content_of(hdfs: &Hdfs, folder: &str) -> Vec<(String, Vec<u8>)> {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("got");
    copy(&hdfs_spec(&format!("{}/{folder}/", hdfs.addresses[0]), &format!("{}/", to.display())))
        .await
        .unwrap();
    let read = |name: String| (name.clone(), std::fs::read(to.join(name)).unwrap());
    names(&to).into_iter().map(read).collect()
}

/// A folder whose quota ends in the middle of a file, of which two blocks of three fit: that is told, and what was there stays, alone.
async fn full(hdfs: &mut Hdfs) {
    put(hdfs, "full/model.bin", b"old").await;
    put(hdfs, "full/big.bin", &content(MIB, 8)).await;
    change(hdfs, &format!("full?op=SETQUOTA&namespacequota={}&storagespacequota={}", i64::MAX, 7 * MIB / 2))
        .await;
    let before = content_of(hdfs, "full").await;
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path().join("model.bin"), &content(5 * MIB / 2, 9));
    for address in &hdfs.addresses {
        let spec = hdfs_spec(file.to_str().unwrap(), &format!("{address}/full/model.bin"));
        let began = Instant::now();
        let error = copy(&spec).await.unwrap_err();
        let TransferError::Quota { why, .. } = &error else { panic!("{error}") };
        assert!(why.starts_with("The DiskSpace quota of /full is exceeded") && why.ends_with("MB"), "{why}");
        assert!(!error.is_passing() && began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        assert!(content_of(hdfs, "full").await == before, "{address}");
    }
}

async fn no_name_node(hdfs: &mut Hdfs) {
    let bytes = content(8 * MIB, 5);
    put(hdfs, "faults/big.bin", &bytes).await;
    for address in hdfs.addresses.clone() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("big.bin");
        let spec = hdfs_spec(&format!("{address}/faults/big.bin"), to.to_str().unwrap());
        hdfs.order("kill namenode");
        let began = Instant::now();
        let error = copy(&spec).await.unwrap_err();
        assert!(matches!(error, TransferError::NoConnection { .. }), "{error}");
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        let file = write(dir.path().join("mine"), b"mine");
        let error =
            copy(&hdfs_spec(file.to_str().unwrap(), &format!("{address}/faults/mine"))).await.unwrap_err();
        assert!(matches!(error, TransferError::NoConnection { .. }), "{error}");
        hdfs.order("start namenode");
        copy(&spec).await.unwrap();
        assert!(std::fs::read(&to).unwrap() == bytes);
    }
}

/// A server that neither answers nor hangs up costs the time that was allowed, not more: the one that knows the files, and the
/// one that has them, reading and writing. What was there stays.
async fn frozen(hdfs: &mut Hdfs) {
    let old = content(MIB, 6);
    put(hdfs, "frozen/old.bin", &old).await;
    put(hdfs, "frozen/model.bin", &old).await;
    // What is left of a transfer that was killed is nothing that a folder holds.
    put(hdfs, "frozen/.old.bin.cubeloom-part", b"half").await;
    let before = content_of(hdfs, "frozen").await;
    assert!(before.iter().all(|(_, bytes)| *bytes == old) && before.len() == 2, "two files");
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("old.bin");
    let new = content(MIB, 7);
    let file = write(dir.path().join("model.bin"), &new);
    for address in hdfs.addresses.clone() {
        let pull = hdfs_spec(&format!("{address}/frozen/old.bin"), to.to_str().unwrap());
        let push = hdfs_spec(file.to_str().unwrap(), &format!("{address}/frozen/model.bin"));
        for (server, whole) in [("namenode", &pull), ("datanode", &pull), ("datanode", &push)] {
            let mut spec = whole.clone();
            // Over HTTP a write is given five times as long.
            (spec.silence, spec.attempts) = (Duration::from_secs(2), 1);
            hdfs.order(&format!("freeze {server}"));
            let began = Instant::now();
            let error = copy(&spec).await.unwrap_err();
            assert!(began.elapsed() < Duration::from_secs(30), "{server}: {:?}: {error}", began.elapsed());
            hdfs.order(&format!("thaw {server}"));
        }
        assert!(
            !to.exists() && content_of(hdfs, "frozen").await == before,
            "{address}: nothing half is left"
        );
        // A DataNode that goes on does what WebHDFS was asked for long ago: an unfinished file beside the target, in the way of nobody.
        copy(&push).await.unwrap();
        let there = content_of(hdfs, "frozen").await;
        assert!(there.iter().map(|(name, _)| name.as_str()).eq(["model.bin", "old.bin"]), "{address}");
        assert!(there[0].1 == new && there[1].1 == old, "{address}");
        put(hdfs, "frozen/model.bin", &old).await;
    }
}

/// A block that is not what was written any more is not taken for it.
async fn spoilt(hdfs: &mut Hdfs) {
    let bytes = content(MIB, 11);
    put(hdfs, "spoilt/one.bin", &bytes).await;
    let block =
        files_below(&hdfs.folder).into_iter().find(|path| std::fs::read(path).is_ok_and(|it| it == bytes));
    let mut turned = bytes.clone();
    turned[MIB / 2] ^= 1;
    write(block.expect("a file of the DataNode's"), &turned);
    let dir = tempfile::tempdir().unwrap();
    let to = write(dir.path().join("one.bin"), b"old");
    for address in &hdfs.addresses {
        let mut spec = hdfs_spec(&format!("{address}/spoilt/one.bin"), to.to_str().unwrap());
        spec.attempts = 1;
        let got = copy(&spec).await;
        assert!(got.is_err(), "{address}: {got:?}");
        assert_eq!(std::fs::read(&to).unwrap(), b"old", "{address}");
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

async fn no_data_node(hdfs: &mut Hdfs) {
    let bytes = content(8 * MIB, 5);
    let address = hdfs.addresses[0].clone();
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("big.bin");
    let mut spec = hdfs_spec(&format!("{address}/faults/big.bin"), to.to_str().unwrap());
    spec.parallel = 1;
    // Killed when a quarter is here, which waits for that.
    let (reached, at_quarter) = std::sync::mpsc::channel();
    let (killed, is_killed) = std::sync::mpsc::channel();
    let channels = Mutex::new(Some((reached, is_killed)));
    let listener = move |now: Progress| {
        if now.bytes_done * 4 > now.bytes_total
            && let Some((reached, is_killed)) = channels.lock().unwrap().take()
        {
            reached.send(()).unwrap();
            is_killed.recv().unwrap();
        }
    };
    let pulled = std::thread::scope(|scope| {
        let hdfs = &mut *hdfs;
        scope.spawn(move || {
            at_quarter.recv().unwrap();
            hdfs.order("kill datanode");
            killed.send(()).unwrap();
        });
        let stop = Stop::default();
        let pulling = transfer(&spec, &stop, listener);
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(pulling))
    });
    let why = pulled.unwrap_err().to_string();
    assert!(why.contains("faults/big.bin") && why.contains("none of the DataNodes"), "{why}");
    let file = write(dir.path().join("mine"), b"mine");
    let push = hdfs_spec(file.to_str().unwrap(), &format!("{address}/faults/mine"));
    let why = copy(&push).await.unwrap_err().to_string();
    assert!(why.contains("faults/mine"), "{why}");
    hdfs.order("start datanode");
    let report = copy(&spec).await.unwrap();
    assert!(matches!(report.files[0].outcome, Outcome::Resumed(kept) if kept > 0), "{report:?}");
    assert!(std::fs::read(&to).unwrap() == bytes);
    copy(&push).await.unwrap();
}
