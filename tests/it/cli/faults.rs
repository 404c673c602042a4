//! Faulty environments: one clear sentence each, and no data loss.

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::TestApp;

const QUICK: &str = "  - {name: quick, template: command, arguments: {command: ['true']}}\n";

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Expects one sentence on standard error, and nothing on standard output.
#[track_caller]
fn refused(app: &TestApp, words: &[&str], part: &str) {
    let done = app.expect(4, words);
    assert!(done.err.starts_with("cubeloom: ") && done.err.contains(part), "{part}: {done:?}");
    assert_eq!(done.out, "");
}

#[test]
fn a_data_folder_that_cannot_be() {
    let mut app = TestApp::new();
    app.write("file", "");
    let file = app.pipeline("quick", QUICK);
    app.set("CUBELOOM_DATA", app.path("file").to_str().unwrap());
    refused(&app, &["run", &file], "its path is a file");
    app.set("CUBELOOM_DATA", "/proc/cubeloom");
    refused(&app, &["run", &file], "the data folder /proc/cubeloom cannot be used");
}

#[test]
fn a_read_only_data_folder() {
    if !is_root() {
        return;
    }
    let app = TestApp::new();
    let file = app.pipeline("quick", QUICK);
    app.expect(0, &["run", &file]);
    let mount = Mount::bind_read_only(&app.data());
    refused(&app, &["run", &file], "read-only");
    refused(&app, &["serve"], "read-only");
    drop(mount);
    app.expect(0, &["run", &file]);
}

#[test]
fn a_data_folder_of_somebody_else() {
    if !is_root() {
        return;
    }
    let app = TestApp::new();
    let file = app.pipeline("quick", QUICK);
    app.expect(0, &["run", &file]);
    let done = app.command(&["runs"]).uid(65_534).gid(65_534).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(4), "{said}");
    assert!(said.contains("permission denied"), "{said}");
}

#[test]
fn a_full_disk() {
    if !is_root() {
        return;
    }
    let parent = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    let mount = Mount::tmpfs(parent.path(), "6m");
    let app = TestApp::in_folder(parent.path());
    let file = app.pipeline("quick", QUICK);
    app.expect(0, &["run", &file]);
    let filler = app.path("filler");
    let _ = fs::write(&filler, vec![1; 8 << 20]);
    refused(&app, &["run", &file], "full");
    fs::remove_file(&filler).unwrap();
    app.expect(0, &["run", &file]);
    drop(app);
    drop(mount);
}

#[test]
fn a_database_that_a_newer_program_wrote() {
    let app = TestApp::new();
    let file = app.pipeline("quick", QUICK);
    app.expect(0, &["run", &file]);
    python(&app, "c.execute(\"INSERT INTO schema_version VALUES (999, '')\"); c.commit()");
    refused(&app, &["run", &file], "use the newer program");
}

#[test]
fn a_database_that_is_none() {
    let app = TestApp::new();
    app.write("data/db/cubeloom.sqlite", &"this is no database, whatever its name says. ".repeat(30));
    let file = app.pipeline("quick", QUICK);
    refused(&app, &["run", &file], "is not a SQLite database");
}

#[test]
fn a_database_that_somebody_has_locked() {
    let app = TestApp::new();
    let file = app.pipeline("quick", QUICK);
    app.expect(0, &["run", &file]);
    let mut holder = Command::new("python3");
    holder.args(["-c", &script("c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); time.sleep(60)")]);
    let mut holder = holder.arg(database(&app)).stdout(Stdio::piped()).spawn().unwrap();
    holder.stdout.as_mut().unwrap().read_exact(&mut [0; 7]).unwrap();
    refused(&app, &["run", &file], "another program has locked the database");
    holder.kill().unwrap();
    holder.wait().unwrap();
    app.expect(0, &["run", &file]);
}

fn database(app: &TestApp) -> PathBuf {
    app.data().join("db/cubeloom.sqlite")
}

/// Python that changes a database from outside.
fn script(text: &str) -> String {
    format!("import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1]); {text}")
}

fn python(app: &TestApp, text: &str) {
    let done = Command::new("python3").args(["-c", &script(text)]).arg(database(app)).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// A mount. Dropping this unmounts it.
struct Mount(PathBuf);

impl Mount {
    fn new(words: &[&str], place: &Path) -> Self {
        let done = Command::new("mount").args(words).arg(place).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        Self(place.into())
    }

    fn tmpfs(place: &Path, size: &str) -> Self {
        Self::new(&["-t", "tmpfs", "-o", &format!("size={size},mode=755"), "tmpfs"], place)
    }

    fn bind_read_only(place: &Path) -> Self {
        let mount = Self::new(&["--bind", place.to_str().unwrap()], place);
        let done = Command::new("mount").args(["-o", "remount,bind,ro"]).arg(place).status().unwrap();
        assert!(done.success());
        mount
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
