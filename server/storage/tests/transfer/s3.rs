//! To and from a real S3 server. One test, since starting the server takes longer than all scenarios
//! together; each has its own bucket, and all run even if some fail.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cubeloom_storage::transfer::{Outcome, Progress, Stop, TransferError, TransferSpec, transfer};
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::helpers::{content, copy, names, sha256, spec, write};
use crate::web_server::{Behaviour, WebServer};

const MIB: usize = 1 << 20;

/// The bucket with this size limit, in bytes.
const SMALL: (&str, usize) = ("full", 4 * MIB);

/// The server of `tests/support/s3`; it ends when its standard input is closed, so also when this process
/// dies.
struct Gateway {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    env: Env,
}

impl Gateway {
    fn start(buckets: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/support/s3/gateway.py");
        let mut command = Command::new("python3");
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.args(["--quota", &format!("{}={}", SMALL.0, SMALL.1)]);
        for bucket in buckets {
            command.args(["--bucket", bucket]);
        }
        let mut child = command.spawn().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        let Ok(facts) = serde_json::from_str::<serde_json::Value>(&line) else {
            let mut why = String::new();
            child.stderr.take().unwrap().read_to_string(&mut why).unwrap();
            child.wait().unwrap();
            panic!("{why}");
        };
        let env = [
            ("AWS_ENDPOINT_URL", "endpoint"),
            ("AWS_ACCESS_KEY_ID", "access_key"),
            ("AWS_SECRET_ACCESS_KEY", "secret_key"),
            ("AWS_REGION", "region"),
        ];
        let env = env.map(|(name, key)| (name.to_owned(), facts[key].as_str().unwrap().to_owned()));
        Self { orders: child.stdin.take(), child, answers, env: env.into() }
    }

    /// The keys of a bucket's uploads that are neither completed nor aborted.
    fn uploads(&mut self, bucket: &str) -> Vec<String> {
        serde_json::from_str(&self.order(&format!("uploads {bucket}"))).unwrap()
    }

    /// S3's ETag of an object. For a multipart object it is the hash of its parts' hashes, followed by their
    /// number.
    fn mark(&mut self, path: &str) -> String {
        serde_json::from_str(&self.order(&format!("mark {path}"))).unwrap()
    }

    fn order(&mut self, order: &str) -> String {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.child.wait();
    }
}

type Env = BTreeMap<String, String>;
type Scenario = for<'a> fn(&'a mut Gateway, &'a str) -> LocalBoxFuture<'a, ()>;

#[tokio::test(flavor = "multi_thread")]
async fn s3() {
    let scenarios: [(&str, Scenario); 10] = [
        ("put-in-parts-and-get-in-ranges", |s3, bucket| put_and_get(s3, bucket).boxed_local()),
        ("resume", |s3, bucket| resume(&s3.env, bucket).boxed_local()),
        ("failed-put", |s3, bucket| failed_put(s3, bucket).boxed_local()),
        ("stopped-put", |s3, bucket| stopped_put(s3, bucket).boxed_local()),
        ("folders-and-patterns", |s3, bucket| folders(&s3.env, bucket).boxed_local()),
        ("odd-names", |s3, bucket| odd_names(&s3.env, bucket).boxed_local()),
        ("refusals", |s3, bucket| refusals(&s3.env, bucket).boxed_local()),
        (SMALL.0, |s3, bucket| full(&s3.env, bucket).boxed_local()),
        ("little-memory", |s3, bucket| little_memory(&s3.env, bucket).boxed_local()),
        ("from-the-web", |s3, bucket| from_the_web(&s3.env, bucket).boxed_local()),
    ];
    let mut gateway = Gateway::start(&scenarios.map(|(bucket, _)| bucket));
    let mut failed = Vec::new();
    for (bucket, scenario) in scenarios {
        if AssertUnwindSafe(scenario(&mut gateway, bucket)).catch_unwind().await.is_err() {
            failed.push(bucket);
        }
    }
    assert!(failed.is_empty(), "failed: {failed:?}; what is wrong is told above");
}

fn s3_spec(env: &Env, from: &str, to: &str) -> TransferSpec {
    let mut spec = spec(&[from], to);
    spec.env = env.clone();
    spec.chunk = MIB as u64;
    spec.attempts = 2;
    spec
}

/// Stops a transfer after this many bytes.
async fn stopped_at(spec: &TransferSpec, bytes: usize) {
    let stop = Stop::default();
    let raise = stop.clone();
    let listener = move |now: Progress| {
        if now.bytes_done >= bytes as u64 {
            raise.raise();
        }
    };
    let error = transfer(spec, &stop, listener).await.unwrap_err();
    assert!(matches!(error, TransferError::Stopped), "{error}");
}

async fn put_and_get(s3: &mut Gateway, bucket: &str) {
    let dir = tempfile::tempdir().unwrap();
    // Three parts of 5 MiB, S3's minimum.
    let bytes = content(12 * MIB + 345, 30);
    let from = write(dir.path().join("from"), &bytes);
    let object = format!("s3://{bucket}/dir/object");
    let put = s3_spec(&s3.env, from.to_str().unwrap(), &object);
    let report = copy(&put).await.unwrap();
    assert_eq!(report.files[0].sha256.as_deref(), Some(sha256(&bytes).as_str()));
    assert_eq!(copy(&put).await.unwrap().files[0].outcome, Outcome::Skipped);
    let mark = s3.mark(&format!("{bucket}/dir/object"));
    assert!(mark.trim_matches('"').ends_with("-3"), "{mark}");
    let env = &s3.env;

    let back = dir.path().join("back");
    let mut get = s3_spec(env, &object, back.to_str().unwrap());
    get.from[0].sha256 = Some(sha256(&bytes));
    assert_eq!(copy(&get).await.unwrap().files[0].outcome, Outcome::Copied);
    assert_eq!(std::fs::read(&back).unwrap(), bytes);
    assert_eq!(copy(&get).await.unwrap().files[0].outcome, Outcome::Skipped);

    let other = s3_spec(env, &object, &format!("s3://{bucket}/copies/"));
    assert_eq!(copy(&other).await.unwrap().files[0].target, format!("s3://{bucket}/copies/object"));
}

/// The next transfer resumes from what an interrupted one left. The test shows this by corrupting one of two
/// ranges.
async fn resume(env: &Env, bucket: &str) {
    let dir = tempfile::tempdir().unwrap();
    let bytes = content(8 * MIB, 31);
    let from = write(dir.path().join("from"), &bytes);
    let object = format!("s3://{bucket}/object");
    copy(&s3_spec(env, from.to_str().unwrap(), &object)).await.unwrap();

    let to = dir.path().join("to/file");
    let get = s3_spec(env, &object, to.to_str().unwrap());
    stopped_at(&get, 3 * MIB).await;
    assert!(!to.exists());
    let report = copy(&get).await.unwrap();
    let Outcome::Resumed(kept) = report.files[0].outcome else { panic!("{report:?}") };
    assert!(kept >= MIB as u64 && kept < 8 * MIB as u64, "{kept}");
    assert_eq!(std::fs::read(&to).unwrap(), bytes);

    // Another object under the same name: nothing of the old one may be used.
    std::fs::remove_dir_all(to.parent().unwrap()).unwrap();
    stopped_at(&get, 3 * MIB).await;
    write(&from, &content(8 * MIB, 32));
    copy(&s3_spec(env, from.to_str().unwrap(), &object)).await.unwrap();
    assert_eq!(copy(&get).await.unwrap().files[0].outcome, Outcome::Copied);
    assert_eq!(std::fs::read(&to).unwrap(), content(8 * MIB, 32));
}

/// A failed upload leaves the object unchanged, and no parts of the new one.
async fn failed_put(s3: &mut Gateway, bucket: &str) {
    let env = &s3.env;
    let dir = tempfile::tempdir().unwrap();
    let old = write(dir.path().join("old"), b"old");
    let object = format!("s3://{bucket}/object");
    copy(&s3_spec(env, old.to_str().unwrap(), &object)).await.unwrap();
    let new = write(dir.path().join("new"), &content(11 * MIB, 33));
    let mut wrong = s3_spec(env, new.to_str().unwrap(), &object);
    wrong.from[0].sha256 = Some(sha256(b"something else"));
    let error = copy(&wrong).await.unwrap_err();
    assert!(matches!(error, TransferError::Checksum { .. }), "{error}");

    let behaviour =
        Behaviour { bytes: content(11 * MIB, 34), dies_after: Some(7 * MIB), ..Behaviour::default() };
    let server = WebServer::start(behaviour).await;
    copy(&s3_spec(env, &server.url("x"), &object)).await.unwrap_err();
    let back = dir.path().join("back");
    copy(&s3_spec(env, &object, back.to_str().unwrap())).await.unwrap();
    assert_eq!(std::fs::read(back).unwrap(), b"old");
    assert!(s3.uploads(bucket).is_empty());
}

/// Files of a folder that arrived before a stop are not sent again; the file in progress is, and nothing of
/// its first attempt remains.
async fn stopped_put(s3: &mut Gateway, bucket: &str) {
    let dir = tempfile::tempdir().unwrap();
    let sizes = [("a", MIB), ("b", MIB), ("c", 16 * MIB), ("d", MIB)];
    for (seed, (name, size)) in (36..).zip(sizes) {
        write(dir.path().join("in").join(name), &content(size, seed));
    }
    let folder = format!("s3://{bucket}/data/");
    let mut put = s3_spec(&s3.env, &format!("{}/in/", dir.path().display()), &folder);
    put.parallel = 1;
    stopped_at(&put, 9 * MIB).await;
    assert!(s3.uploads(bucket).is_empty());
    let report = copy(&put).await.unwrap();
    let outcomes: Vec<Outcome> = report.files.iter().map(|file| file.outcome).collect();
    assert_eq!(outcomes, [Outcome::Skipped, Outcome::Skipped, Outcome::Copied, Outcome::Copied]);
    let back = dir.path().join("back");
    copy(&s3_spec(&s3.env, &folder, &format!("{}/", back.display()))).await.unwrap();
    for (name, _) in sizes {
        let [sent, here] = ["in", "back"].map(|at| std::fs::read(dir.path().join(at).join(name)).unwrap());
        assert!(sent == here, "{name}");
    }
}

/// A bucket at its size limit: the existing object stays, whether the new one is sent whole or in parts.
async fn full(env: &Env, bucket: &str) {
    let dir = tempfile::tempdir().unwrap();
    let old = write(dir.path().join("old"), &content(SMALL.1 / 2, 40));
    let object = format!("s3://{bucket}/object");
    copy(&s3_spec(env, old.to_str().unwrap(), &object)).await.unwrap();
    for size in [SMALL.1 - MIB, 3 * SMALL.1] {
        let new = write(dir.path().join("new"), &content(size, 41));
        let error = copy(&s3_spec(env, new.to_str().unwrap(), &object)).await.unwrap_err();
        let TransferError::Quota { url, why } = &error else { panic!("{size}: {error}") };
        assert_eq!((url, why.as_str()), (&object, "QuotaExceeded"));
        assert!(!error.is_passing());
    }
    let back = dir.path().join("back");
    copy(&s3_spec(env, &object, back.to_str().unwrap())).await.unwrap();
    assert!(std::fs::read(back).unwrap() == std::fs::read(old).unwrap());
}

/// More concurrent data than memory: files wait for each other, and a file is refused if its parts cannot fit
/// at all.
async fn little_memory(env: &Env, bucket: &str) {
    let dir = tempfile::tempdir().unwrap();
    let files = [("a", 42), ("b", 43), ("c", 44)].map(|(name, seed)| (name, content(11 * MIB, seed)));
    for (name, bytes) in &files {
        write(dir.path().join("in").join(name), bytes);
    }
    let folder = format!("s3://{bucket}/data/");
    let mut put = s3_spec(env, &format!("{}/in/", dir.path().display()), &folder);
    (put.parallel, put.memory) = (64, Some(16 * MIB as u64));
    copy(&put).await.unwrap();
    let back = dir.path().join("back");
    copy(&s3_spec(env, &folder, &format!("{}/", back.display()))).await.unwrap();
    for (name, bytes) in &files {
        assert!(std::fs::read(back.join(name)).unwrap() == *bytes, "{name}");
    }
    put.to = format!("s3://{bucket}/more/");
    put.memory = Some(4 * MIB as u64);
    let error = copy(&put).await.unwrap_err();
    assert!(matches!(error, TransferError::Memory { .. }), "{error}");
    assert!(error.to_string().contains("5242880 bytes"), "{error}");
}

async fn folders(env: &Env, bucket: &str) {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.csv", "x/b.csv", "x/y/c.csv", "x/y/d.txt", "x/empty.csv"] {
        write(dir.path().join("in").join(name), if name.contains("empty") { b"" } else { name.as_bytes() });
    }
    let put = s3_spec(env, &format!("{}/in/", dir.path().display()), &format!("s3://{bucket}/data/"));
    assert_eq!(copy(&put).await.unwrap().files.len(), 5);
    for (source, expected) in [
        ("data/", vec!["a.csv", "x/b.csv", "x/empty.csv", "x/y/c.csv", "x/y/d.txt"]),
        ("data/x/", vec!["b.csv", "empty.csv", "y/c.csv", "y/d.txt"]),
        ("data/*.csv", vec!["a.csv"]),
        ("data/**/*.csv", vec!["a.csv", "x/b.csv", "x/empty.csv", "x/y/c.csv"]),
        ("data/x/?.csv", vec!["b.csv"]),
        ("data/x/em*.csv", vec!["empty.csv"]),
        ("da*/x/y/d*", vec!["data/x/y/d.txt"]),
        ("**/d.*", vec!["data/x/y/d.txt"]),
    ] {
        let to = tempfile::tempdir().unwrap();
        let get = s3_spec(env, &format!("s3://{bucket}/{source}"), to.path().to_str().unwrap());
        copy(&get).await.unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(names(to.path()), expected, "{source}");
    }
    for (source, expected) in [("*.zip", "no file matches"), ("none/", "there is no such file")] {
        let get = s3_spec(env, &format!("s3://{bucket}/{source}"), dir.path().join("out/").to_str().unwrap());
        let error = copy(&get).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{source}: {error}");
    }
}

async fn odd_names(env: &Env, bucket: &str) {
    let dir = tempfile::tempdir().unwrap();
    let odd = ["a b", "100% + &=#", "数据/\u{1f4be}.bin", "quote'\"<>", ".hidden", "back\\slash", "x/ y /z"];
    for name in odd {
        write(dir.path().join("in").join(name), name.as_bytes());
    }
    copy(&s3_spec(env, &format!("{}/in/", dir.path().display()), &format!("s3://{bucket}/"))).await.unwrap();
    let back = dir.path().join("back/");
    copy(&s3_spec(env, &format!("s3://{bucket}/"), back.to_str().unwrap())).await.unwrap();
    for name in odd {
        assert_eq!(std::fs::read(back.join(name)).unwrap(), name.as_bytes(), "{name}");
    }
}

async fn refusals(env: &Env, bucket: &str) {
    let dir = tempfile::tempdir().unwrap();
    let from = write(dir.path().join("from"), b"x");
    let object = format!("s3://{bucket}/object");
    copy(&s3_spec(env, from.to_str().unwrap(), &object)).await.unwrap();
    let to = dir.path().join("to/file");
    let to = to.to_str().unwrap();
    let other = write(dir.path().join("other"), b"something else");
    let local = other.to_str().unwrap();

    let mut wrong = env.clone();
    wrong.insert("AWS_SECRET_ACCESS_KEY".into(), "wrong".into());
    for (from, to) in [(object.as_str(), to), (local, object.as_str()), (&format!("s3://{bucket}/*"), to)] {
        let error = copy(&s3_spec(&wrong, from, to)).await.unwrap_err();
        let TransferError::Credentials { url, code, .. } = &error else { panic!("{from}: {error}") };
        assert_eq!(code, "SignatureDoesNotMatch");
        assert!(url.starts_with("s3://") && error.to_string().contains("AWS_SECRET_ACCESS_KEY"), "{error}");
    }
    let back = dir.path().join("back");
    copy(&s3_spec(env, &object, back.to_str().unwrap())).await.unwrap();
    assert_eq!(std::fs::read(&back).unwrap(), b"x", "it is as it was");
    wrong.insert("AWS_ACCESS_KEY_ID".into(), "NOBODY".into());
    let error = copy(&s3_spec(&wrong, &object, to)).await.unwrap_err();
    assert!(error.to_string().contains("InvalidAccessKeyId"), "{error}");
    wrong.retain(|name, _| !name.contains("KEY"));
    let error = copy(&s3_spec(&wrong, &object, to)).await.unwrap_err();
    assert!(matches!(error, TransferError::Denied { .. }), "{error}");

    for (from, to) in
        [("s3://no-such-bucket/x", to), (local, "s3://no-such-bucket/x"), ("s3://no-such-bucket/", to)]
    {
        let error = copy(&s3_spec(env, from, to)).await.unwrap_err();
        assert!(matches!(error, TransferError::NoBucket { .. }), "{from}: {error}");
    }
    let missing = copy(&s3_spec(env, &format!("s3://{bucket}/gone"), to)).await.unwrap_err();
    assert!(matches!(missing, TransferError::Missing { .. }), "{missing}");
    wrong = env.clone();
    wrong.insert("AWS_ENDPOINT_URL".into(), "http://127.0.0.1:9".into());
    let error = copy(&s3_spec(&wrong, &object, to)).await.unwrap_err();
    assert!(matches!(error, TransferError::NoConnection { .. }), "{error}");
    assert!(!Path::new(to).exists());
}

async fn from_the_web(env: &Env, bucket: &str) {
    let bytes = content(11 * MIB + 1, 35);
    for (name, no_ranges, chunked) in
        [("ranges", false, false), ("whole", true, false), ("unknown", true, true)]
    {
        let behaviour = Behaviour {
            bytes: bytes.clone(),
            etag: Some("\"1\""),
            no_ranges,
            chunked,
            ..Behaviour::default()
        };
        let server = WebServer::start(behaviour).await;
        let put = s3_spec(env, &server.url(name), &format!("s3://{bucket}/"));
        let report = copy(&put).await.unwrap();
        assert_eq!(report.files[0].sha256.as_deref(), Some(sha256(&bytes).as_str()), "{name}");
        assert_eq!(report.bytes(), bytes.len() as u64);
    }
}
