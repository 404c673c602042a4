//! A full disk, and folders over their quota: errors, degraded operation, and automatic recovery.

use std::cell::Cell;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::help::{document, of_task, start, task, until, until_task};
use crate::api::identity::help::Browser;
use crate::api::support::{Client, Server, Who};
use crate::support::{TestApp, wait_for, wait_within};

/// How long recovery may take.
const SOON: Duration = Duration::from_secs(5);

/// A disk of a few megabytes. Dropping this unmounts it.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Self {
        let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size},mode=755"), "tmpfs"]).arg(folder.path());
        let done = mount.output().unwrap();
        assert!(done.status.success(), "{done:?}");
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the remaining space.
    fn fill(&self) -> PathBuf {
        let path = self.path().join("filler");
        let mut file = File::create(&path).unwrap();
        for piece in [1 << 16, 1 << 12, 1] {
            while file.write_all(&vec![1; piece]).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}

fn reserve(client: &Client) -> String {
    let answer = client.get("/health");
    if answer.status != 200 {
        return format!("status {}", answer.status);
    }
    answer.json()["database_reserve"].as_str().unwrap().to_owned()
}

/// Takes 2 to 4 seconds.
#[test]
fn a_full_disk_costs_one_refusal_and_is_over_within_five_seconds() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: no disk can be mounted here");
    }
    let disk = SmallDisk::mount("64m");
    let mut app = TestApp::in_folder(disk.path());
    app.set("CUBELOOM_DATABASE_RESERVE", "8Mi");
    app.set("CUBELOOM_LOCAL_FREE", "16Mi");
    let server = Server::start_in(app);
    let (nobody, editor) = (server.as_(Who::Anonymous), server.as_(Who::Editor));
    wait_for("the reserve", || reserve(&nobody) == "kept");
    let held = tempfile::NamedTempFile::new().unwrap();
    let line = format!("while [ -e {} ]; do sleep 0.1; done", held.path().display());
    let run = start(&editor, &document("held", &format!("tasks:\n{}", task("a", &line, ""))));
    until_task(&editor, &run, "a", "running");
    let filler = disk.fill();
    let large = |n: usize| {
        let words = "x".repeat(200_000);
        json!({"document": document(&format!("large-{n}"), &format!("description: {words}\ntasks:\n{}", task("a", "true", "")))})
    };
    let is_full = (0..100).any(|n| {
        let answer = editor.post("/projects/default/pipelines", &large(n));
        assert!([201, 503].contains(&answer.status), "{}", answer.text());
        answer.status == 503 || reserve(&nobody) == "missing"
    });
    assert!(is_full && reserve(&nobody) == "missing", "{}", server.log());
    nobody.get("/ready").expect(200);
    // With the reserve in use, changes are stored, and so is the end of the run. Nothing new starts.
    editor.post("/projects/default/pipelines", &large(1000)).expect(201);
    drop(held);
    until(&editor, &run, "succeeded");
    let waits = start(&editor, &document("waits", &format!("tasks:\n{}", task("a", "true", ""))));
    wait_for("the reason", || {
        of_task(&editor, &waits, "a").to_string().contains("the disk of the server's folder")
    });
    fs::remove_file(&filler).unwrap();
    let began = Instant::now();
    wait_within(SOON, "the reserve to be back", || reserve(&nobody) == "kept");
    wait_within(SOON.saturating_sub(began.elapsed()), "what waits to end", || {
        editor.get(&format!("/runs/{waits}")).json()["state"] == "succeeded"
    });
    drop(server);
}

/// Takes about 15 seconds, mostly waiting for folders to be measured.
#[test]
fn folders_that_hold_more_than_they_may_are_told_of_and_it_goes_on_when_they_do_not() {
    let mut app = TestApp::new();
    app.set("CUBELOOM_LOCAL_RUN_DISK", "2Mi");
    app.set("CUBELOOM_LOCAL_WORKSPACE", "2Mi");
    let server = Server::start_in(app);
    let editor = server.as_(Who::Editor);
    let browser = Browser::new(&server, Who::Editor.name());
    let writes = "head -c 3145728 /dev/zero >large; exec sleep 300";
    let run = start(&editor, &document("writes", &format!("tasks:\n{}", task("a", writes, ""))));
    until(&editor, &run, "failed");
    let failed = of_task(&editor, &run, "a").to_string();
    assert!(
        failed.contains("disk_limit") && failed.contains("into its run folder; the limit is 2 MiB"),
        "{failed}"
    );
    let page = browser.get(&format!("page:/runs/{run}")).expect(200).text();
    assert!(page.contains("into its run folder; the limit is 2 MiB"), "{page}");
    let large = server.data().join("workspace/default/large");
    let keeps = "head -c 3145728 /dev/zero >\"$CUBELOOM_WORKSPACE/large\"";
    let run = start(&editor, &document("keeps", &format!("tasks:\n{}", task("a", keeps, ""))));
    until(&editor, &run, "succeeded");
    // Some may start before the workspace is measured.
    let mut waits = String::new();
    for n in 0.. {
        waits = start(&editor, &document("waits", &format!("tasks:\n{}", task("a", "true", ""))));
        let ended = Cell::new(false);
        wait_for("an end or a reason", || {
            let task = of_task(&editor, &waits, "a");
            ended.set(task["state"] == "succeeded");
            ended.get() || task.to_string().contains("the project's workspace uses")
        });
        if !ended.get() {
            break;
        }
        assert!(n < 200, "everything starts");
    }
    let page = browser.get(&format!("page:/runs/{waits}/tasks/a")).expect(200).text();
    assert!(page.contains("no task starts until files are deleted"), "{page}");
    fs::remove_file(large).unwrap();
    until(&editor, &waits, "succeeded");
}
