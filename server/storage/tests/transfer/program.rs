//! The command `cubeloom transfer`, as a task of a run calls it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use cubeloom_storage::transfer::main_from_args;
use rustix::process::Signal;
use serde_json::Value;

use crate::helpers::{content, names, sha256, write};
use crate::web_server::{Behaviour, WebServer};

fn call(run_dir: &Path, args: &[&str]) -> (ExitCode, Vec<Value>) {
    let outputs = run_dir.join("outputs.jsonl");
    let env = BTreeMap::from([
        ("CUBELOOM_RUN_DIR".to_owned(), run_dir.to_str().unwrap().to_owned()),
        ("CUBELOOM_CODE".to_owned(), run_dir.join("code").to_str().unwrap().to_owned()),
        ("CUBELOOM_OUTPUTS".to_owned(), outputs.to_str().unwrap().to_owned()),
    ]);
    let code = main_from_args(["cubeloom transfer"].iter().chain(args), &env);
    let text = std::fs::read_to_string(&outputs).unwrap_or_default();
    std::fs::remove_file(&outputs).unwrap();
    (code, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn a_file_is_copied_below_the_run_and_its_outputs_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = content(300_000, 20);
    write(dir.path().join("in/a b.bin"), &bytes);
    let sum = sha256(&bytes);
    let (code, lines) =
        call(dir.path(), &["--from", "in/a b.bin", "--to", "data/", "--sha256", &sum, "--chunk", "64KiB"]);
    assert_eq!(code, ExitCode::SUCCESS);
    assert_eq!(std::fs::read(dir.path().join("data/a b.bin")).unwrap(), bytes);
    assert_eq!(lines[0]["progress"]["total"], 300_000);
    let output = &lines.last().unwrap()["output"];
    assert_eq!(
        (&output["files"], &output["bytes"], &output["skipped"]),
        (&1.into(), &300_000.into(), &0.into())
    );
    assert_eq!(output["sha256"], sum);
}

#[test]
fn a_manifest_gives_files_and_sums() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = content(1000, 21);
    let sum = sha256(&bytes);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(WebServer::start(Behaviour { bytes, ..Behaviour::default() }));
    write(dir.path().join("code/sums"), format!("{sum}  x/one file.csv\n{sum}  two.csv\n").as_bytes());
    let (code, lines) = call(
        dir.path(),
        &["--from", &server.url("data/"), "--manifest", "sums", "--to", "data/", "--parallel", "2"],
    );
    assert_eq!(code, ExitCode::SUCCESS);
    assert_eq!(names(&dir.path().join("data")), ["two.csv", "x/one file.csv"]);
    assert!(server.take_seen().uris.iter().any(|uri| uri == "/data/x/one%20file.csv"));
    let output = &lines.last().unwrap()["output"];
    assert_eq!((&output["files"], output.get("sha256")), (&2.into(), None));

    let list = format!("- {{url: '{}', sha256: {sum}}}\n", server.url("z"));
    write(dir.path().join("code/list.yaml"), list.as_bytes());
    assert_eq!(call(dir.path(), &["--manifest", "list.yaml", "--to", "z/"]).0, ExitCode::SUCCESS);
    assert_eq!(names(&dir.path().join("z")), ["z"]);
}

#[test]
fn sums_by_name_and_an_empty_list_of_them_are_understood() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("in/a=b"), b"a");
    write(dir.path().join("in/c"), b"c");
    let (sum, other) = (format!("a=b={}", sha256(b"a")), format!("c={}", sha256(b"c")));
    let from = ["--from", "in/a=b", "in/c", "--to", "out/"];
    assert_eq!(call(dir.path(), &[&from[..], &["--sha256", &sum, &other]].concat()).0, ExitCode::SUCCESS);
    assert_eq!(call(dir.path(), &[&["--sha256"], &from[..]].concat()).0, ExitCode::SUCCESS);
    let bare = sha256(b"a");
    assert_eq!(call(dir.path(), &[&from[..], &["--sha256", &bare]].concat()).0, ExitCode::from(1));
}

#[test]
fn wrong_calls_and_failures_have_their_exit_codes() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("a"), b"a");
    write(dir.path().join("outputs.jsonl"), b"");
    let env = BTreeMap::new();
    for wrong in [
        &["transfer"][..],
        &["transfer", "--from", "a"],
        &["transfer", "--from", "a", "--to", "b", "--chunk", "12 parsecs"],
        &["transfer", "--from", "a", "--to", "b", "--parallel", "0"],
    ] {
        assert_eq!(main_from_args(wrong, &env), ExitCode::from(2), "{wrong:?}");
    }
    let (code, lines) = call(dir.path(), &["--from", "gone", "--to", "b"]);
    assert_eq!((code, lines.len()), (ExitCode::from(1), 0));
}

/// Not a test, but the program as a separate process, for tests that send it signals: standard input has its
/// arguments as a list.
#[test]
#[ignore = "a program that other tests start"]
fn child() {
    let text = std::io::read_to_string(std::io::stdin()).unwrap();
    let args: Vec<String> = serde_json::from_str(&text).unwrap();
    let code = main_from_args(args, &std::env::vars().collect());
    let codes = [0, 1, 2, 143_u8];
    let code = codes.into_iter().find(|one| code == ExitCode::from(*one));
    std::process::exit(code.map_or(-1, i32::from));
}

fn apart() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["program::child", "--exact", "--ignored", "--nocapture"]).stdin(Stdio::piped());
    command
}

fn start(args: &[&str]) -> Child {
    started(apart().stdout(Stdio::null()), args)
}

fn started(command: &mut Command, args: &[&str]) -> Child {
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(args).unwrap()).unwrap();
    child
}

/// Runs the program as a separate process, with these variables; returns its exit code and output.
pub fn call_apart(args: &[&str], env: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = apart();
    command.envs(env.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = started(&mut command, args).wait_with_output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_killed_transfer_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = content(8 << 20, 22);
    let slow = Some(Duration::from_millis(30));
    let behaviour = Behaviour { bytes: bytes.clone(), etag: Some("\"1\""), slow, ..Behaviour::default() };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(WebServer::start(behaviour));
    let to = dir.path().join("file");
    let url = server.url("file");
    let args =
        ["transfer", "--from", &url, "--to", to.to_str().unwrap(), "--chunk", "256KiB", "--parallel", "1"];
    for signal in [Signal::KILL, Signal::TERM] {
        let mut child = start(&args);
        // Long enough to write a note, too short for the whole file, which takes at least 3.8 s.
        let note = dir.path().join(".file.cubeloom-part.json");
        let before = std::fs::read(&note).unwrap_or_default();
        let end = Instant::now() + Duration::from_secs(60);
        while std::fs::read(&note).unwrap_or_default() == before && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        assert!(status.code() == (signal == Signal::TERM).then_some(143), "{status:?}");
        assert!(!to.exists());
    }
    let sent = server.take_seen().sent;
    server.change(|behaviour| behaviour.slow = None);
    assert!(start(&args).wait().unwrap().success());
    let rest = server.take_seen().sent;
    assert_eq!(std::fs::read(&to).unwrap(), bytes);
    assert!(rest < bytes.len() * 7 / 8, "{sent} and then {rest}");
    assert_eq!(names(dir.path()), ["file"]);
}
