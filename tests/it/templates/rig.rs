//! Data folders that share slow parts: uv, its package cache, and the Python environments.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use rustix::fs::FlockOperation;
use rustix::process::geteuid;
use serde_json::Value;

use crate::api::support::{Server, Who};
use crate::support::TestApp;

/// The shared parts, created once per machine, and their paths below a data folder.
const SHARED: [(&str, &str); 3] = [("cache", "cache"), ("venvs", "venvs"), ("uv", "tools/uv")];
/// The package lists of the templates and examples. A test with another list creates its own environment.
const ENVIRONMENTS: &str = include_str!("jobs/environments.yaml");
/// Exists once all shared parts exist.
const MARK: &str = "environments.yaml";

/// A data folder with the templates' environments.
pub fn app() -> TestApp {
    linked(&["cache", "venvs", "uv"])
}

/// A data folder without environments, but with the package cache.
pub fn app_without_environments() -> TestApp {
    linked(&["cache", "uv"])
}

/// A test pipeline.
pub fn job(name: &str) -> String {
    format!("{}/it/templates/jobs/{name}.yaml", env!("CARGO_MANIFEST_DIR"))
}

pub fn shipped(path: &str) -> String {
    format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs a pipeline to its end, without a time limit. Returns its report.
#[track_caller]
pub fn run(app: &TestApp, code: i32, file: &str, words: &[&str]) -> Value {
    let done = output(app, &[&["run", file, "--output", "json"], words].concat());
    assert_eq!(done.status.code(), Some(code), "{file}: {}", said(app, &done));
    serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{file}: {error}: {done:?}"))
}

/// Runs the program without a time limit: the first run on a machine downloads packages.
fn output(app: &TestApp, words: &[&str]) -> Output {
    app.command(words).stderr(Stdio::piped()).output().expect("it starts")
}

/// The output of a failed run, with its logs.
fn said(app: &TestApp, done: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let show = text(&output(app, &["runs", "show", "latest"]).stdout);
    format!("{}\n{}\n{show}", text(&done.stdout), text(&done.stderr))
}

/// The successive worker counts of a task's first attempt.
#[track_caller]
pub fn sizes(app: TestApp, run: &Value, task: &str) -> Vec<u64> {
    let server = Server::start_in(app);
    let path = format!("/runs/{}/attempts", run["run"]["id"].as_str().expect("an id"));
    let listed = server.as_(Who::Administrator).get(&path).expect(200).json();
    let mut attempts = listed["items"].as_array().expect("attempts").iter();
    let attempt = attempts.find(|attempt| attempt["task"] == task).expect("an attempt");
    let earlier = attempt["earlier"].as_array().into_iter().flatten();
    let workers = attempt["workers"].as_array().expect("workers").iter();
    let last = workers.filter(|worker| worker["given_back"] != true).count() as u64;
    earlier.map(|was| was["workers"].as_u64().expect("a number")).chain([last]).collect()
}

pub fn folder(run: &Value) -> PathBuf {
    run["run_dir"].as_str().expect("a folder").into()
}

/// A data folder with links to the shared parts.
fn linked(names: &[&str]) -> TestApp {
    let shared = shared();
    let app = fresh();
    for (name, place) in SHARED.iter().filter(|(name, _)| names.contains(name)) {
        let link = app.data().join(place);
        let parent = link.parent().expect("a parent");
        DirBuilder::new().recursive(true).mode(0o755).create(parent).expect("a folder");
        symlink(shared.join(name), &link).expect("a link");
    }
    app
}

/// A new data folder, with this shell's package index settings.
#[allow(clippy::disallowed_methods, reason = "a machine may reach package indexes in its own way")]
fn fresh() -> TestApp {
    let mut app = TestApp::new();
    let names = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];
    let certificates = ["SSL_CERT_FILE", "SSL_CERT_DIR"];
    for (name, value) in std::env::vars() {
        let tool = name.starts_with("PIP_") || name.starts_with("UV_INDEX") || name == "UV_DEFAULT_INDEX";
        if tool || names.contains(&name.as_str()) || certificates.contains(&name.as_str()) {
            app.set(&name, value);
        }
    }
    app
}

/// The folder of the shared parts, created by the first test on this machine while the others wait.
fn shared() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("cubeloom-tests-{}", geteuid().as_raw()));
    DirBuilder::new().recursive(true).mode(0o755).create(&folder).expect("a folder");
    let owner = fs::symlink_metadata(&folder).expect("a folder").uid();
    assert_eq!(owner, geteuid().as_raw(), "{} belongs to somebody else: delete it", folder.display());
    let lock = File::create(folder.join("lock")).expect("a lock");
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).expect("the lock");
    if fs::read_to_string(folder.join(MARK)).unwrap_or_default() != ENVIRONMENTS {
        make(&folder);
    }
    folder
}

/// Creates the shared parts in a new data folder, and moves them to their shared location.
fn make(folder: &Path) {
    let app = fresh();
    let kept = folder.join("cache");
    if kept.exists() {
        fs::create_dir_all(app.data()).expect("a folder");
        symlink(&kept, app.data().join("cache")).expect("a link");
    }
    run(&app, 0, &job("environments"), &[]);
    for (name, place) in SHARED {
        let (made, shared) = (app.data().join(place), folder.join(name));
        if made.is_symlink() {
            continue;
        }
        let _ = fs::remove_dir_all(&shared);
        match fs::rename(&made, &shared) {
            Ok(()) => {}
            // uv was on the PATH already.
            Err(_) if !made.exists() => fs::create_dir_all(&shared).expect("a folder"),
            Err(error) => panic!("{}: {error}", shared.display()),
        }
    }
    fs::write(folder.join(MARK), ENVIRONMENTS).expect("a file");
}
