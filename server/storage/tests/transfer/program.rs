//! The program `cubeloom transfer`, as a task of a run calls it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use cubeloom_storage::transfer::main_from_args;
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
