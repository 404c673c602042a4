//! Attacks by a program of alice's, on a server that is root and on one that is not.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Line, Scene, ended, judge, log, run};
use crate::api::support::Who;
use crate::support::{TestApp, program, wait_for};

pub const ATTACKER: &str = include_str!("../../hostile/worker.py");
pub const VICTIM: &str = include_str!("../../hostile/bob.py");

fn attack(app: TestApp, root: bool, at_least: usize) {
    let scene = Scene::in_(app);
    let data = scene.server.data();
    let storage = data.join("workspace/bob");
    let secrets = json!({"secrets": [{"name": "key", "env": "BOBS_KEY"}]});
    let mut program = vec!["python3", "-c", VICTIM, storage.to_str().unwrap()];
    program.extend(root.then_some("root"));
    let victim = run(&scene.bob, "bob", &program, &secrets);
    wait_for("bob to be ready", || storage.join("facts.json").exists());
    let mut facts: Value = serde_json::from_slice(&fs::read(storage.join("facts.json")).unwrap()).unwrap();
    facts["data"] = json!(data);
    facts["server"] = json!(scene.server.pid());
    facts["url"] = json!(scene.server.url());
    facts["walls"] = match root {
        true => json!(["uid", "view", "platform", "privileges"]),
        false => json!(["platform", "privileges"]),
    };
    let before = owners(&data);
    let attacker = run(&scene.alice, "alice", &["python3", "-c", ATTACKER, &facts.to_string()], &json!({}));
    let state = ended(&scene.alice, &attacker);
    judge_program(&log(&scene.alice, &attacker), at_least);
    assert_eq!(state, "succeeded");
    judge(&turned(&scene, &data, &victim, root), 5);
    for (path, owner) in before {
        let now = owners_of(Path::new(&path));
        assert_eq!(now, Some(owner), "the owner or the mode of {path} has changed");
    }
    assert!(!Path::new("/tmp/bob-left").exists(), "what a task leaves in /tmp is its own");
    fs::write(storage.join("over"), "").unwrap();
    assert_eq!(ended(&scene.bob, &victim), "succeeded");
    assert!(log(&scene.bob, &victim).contains("bob ends as he began: the notes of bob"));
}

/// `setup` replaces a volume by a link before the program's view of the machine is built from it.
fn turned(scene: &Scene, data: &Path, victim: &str, root: bool) -> Vec<Line> {
    let targets = [
        ("keys", "sealing"),
        ("runs", victim),
        ("workspace", "bob"),
        ("workspace/bob", "notes"),
        ("", "server.json"),
    ];
    let mut lines = Vec::new();
    for (at, (target, name)) in targets.into_iter().enumerate() {
        let volume = format!("turned-{at}");
        let place = json!({"name": volume, "place": {"kind": "workspace", "path": volume}});
        scene.server.as_(Who::Administrator).post("/projects/alice/volumes", &place).expect(201);
        let variable = format!("$CUBELOOM_VOLUME_TURNED_{at}");
        let link = data.join(target);
        let setup = format!("rmdir \"{variable}\" && ln -s '{}' \"{variable}\"", link.display());
        // Landlock hides the contents of a folder, but not its name.
        let look =
            if root { format!("test -e \"{variable}/{name}\"") } else { format!("ls -A \"{variable}/\"") };
        let more = json!({"volumes": [volume], "setup": ["sh", "-ec", setup]});
        let run = run(
            &scene.alice,
            "alice",
            &["sh", "-c", &format!("if {look}; then echo REACHED; fi; echo looked")],
            &more,
        );
        let state = ended(&scene.alice, &run);
        let said = log(&scene.alice, &run);
        let refused = state == "succeeded" && said.contains("looked") && !said.contains("REACHED");
        let by = if refused {
            Ok("what is mounted or let in".to_owned())
        } else {
            Err(format!("{state}: {said}"))
        };
        lines.push((format!("turn a volume to `{target}` in its setup"), by));
    }
    lines
}

/// The attacker program, with attacks of another file inserted before its last line, which runs them.
pub fn attacker_with(more: &str) -> String {
    let (attacks, run) = ATTACKER.trim_end().rsplit_once('\n').unwrap();
    format!("{attacks}\n{more}\n\n{run}\n")
}

/// Parses and judges the attacker's report of each attack.
pub fn judge_program(said: &str, at_least: usize) {
    assert!(said.contains("\"attacks\": "), "it did not come to its end: {said}");
    judge(&lines(said), at_least);
    assert!(!said.contains("the-secret-of-bob"), "{said}");
}

/// A program's report of its attempts.
pub fn lines(said: &str) -> Vec<Line> {
    said.lines().filter_map(line).collect()
}

fn line(text: &str) -> Option<Line> {
    let line: Value = serde_json::from_str(text).ok()?;
    let tried = line["tried"].as_str()?.to_owned();
    let by = line["refused"].as_str().map(str::to_owned);
    Some((tried, by.ok_or_else(|| line["BROKE"].as_str().unwrap_or_default().to_owned())))
}

/// Owner, group and mode of everything in a folder.
fn owners(folder: &Path) -> Vec<(String, (u32, u32, u32))> {
    let found = Command::new("find").arg(folder).args(["-not", "-type", "l"]).output().unwrap();
    let paths = String::from_utf8(found.stdout).unwrap();
    // A database's temporary files come and go while it writes.
    let stays = |path: &&str| !path.contains("/db/");
    paths.lines().filter(stays).filter_map(|path| Some((path.into(), owners_of(Path::new(path))?))).collect()
}

fn owners_of(path: &Path) -> Option<(u32, u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.uid(), found.gid(), found.mode()))
}

/// The isolation of projects on this machine, according to `cubeloom check`.
pub fn walls(app: &TestApp) -> (bool, String) {
    let done = app.call(&["check", "--output", "json"]);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    let line = report.as_array().unwrap().iter().find(|line| line["subject"] == "sandbox").unwrap();
    (line["level"] == "ok", line["text"].as_str().unwrap().to_owned())
}

#[test]
fn a_program_cannot_reach_beyond_its_project_where_the_server_is_root() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: the server is not root");
        return;
    }
    let app = TestApp::new();
    match walls(&app) {
        (true, _) => attack(app, true, 90),
        (false, why) => eprintln!("skipped: {why}"),
    }
}

/// Without root, all workers share one uid, and Landlock isolates them.
#[test]
fn a_program_cannot_reach_beyond_its_project_where_the_server_is_not_root() {
    let mut app = TestApp::new();
    if rustix::process::geteuid().is_root() {
        let own = app.path("bin");
        fs::create_dir_all(&own).unwrap();
        for name in ["cubeloom", "cubeloom-shim"] {
            fs::copy(program::cubeloom().with_file_name(name), own.join(name)).unwrap();
        }
        app.run_as("daemon", own.join("cubeloom"));
    }
    // Landlock isolates signals and sockets from ABI version 6 on.
    let version = "import ctypes; print(ctypes.CDLL(None).syscall(444, 0, 0, 1))";
    let version = Command::new("/usr/bin/python3").args(["-c", version]).output().unwrap().stdout;
    let version: i32 = String::from_utf8(version).unwrap().trim().parse().unwrap();
    match walls(&app) {
        (true, _) if version >= 6 => attack(app, false, 60),
        (_, why) => eprintln!("skipped: Landlock is of version {version}: {why}"),
    }
}
