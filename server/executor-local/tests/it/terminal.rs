//! Terminals of the executor: a shell in place of a worker, which leaves nothing behind, no matter which
//! process dies.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::{Bindings, Lowered};
use cubeloom_domain::outcome::FailureKind;
use cubeloom_domain::terminal::{Terminal, TerminalOrder, TerminalSize, Terminals};
use cubeloom_testkit::conformance::{Harness, Program, processes_with, run};
use rustix::process::{Pid, Signal, kill_process};

use crate::harness::Local;
use crate::lower::lower;

/// The private folder of the terminal `id`, below the data folder.
fn scratch(harness: &Local, id: &str) -> PathBuf {
    harness.data().join("terminals").join(id)
}

fn order(harness: &Local, id: &str, job: Job, rank: u32) -> TerminalOrder {
    let ledger = harness.ledger();
    TerminalOrder {
        id: id.into(),
        job: Arc::new(job),
        rank,
        size: TerminalSize { columns: 80, rows: 24 },
        greeting: "Hello.".into(),
        lower: Arc::new(move |job: &Job, bindings: &Bindings| {
            let Bindings::Local(bindings) = bindings else { panic!("other bindings") };
            Ok(Lowered::Local(lower(job, bindings, &ledger)))
        }),
    }
}

/// A program that has failed, so that its run has a folder.
async fn failed(harness: &Local, program: &Program) -> Job {
    let (key, _) = run(harness, program).await;
    program.job(key)
}

/// Types, and reads until the text appears.
async fn told(terminal: &dyn Terminal, typed: &str, text: &str) -> String {
    terminal.write(typed.as_bytes()).await.unwrap();
    let mut shown = String::new();
    while !shown.contains(text) {
        let read = tokio::time::timeout(Duration::from_secs(20), terminal.read()).await;
        let read = read.unwrap_or_else(|_| panic!("no {text:?} in {shown:?}")).unwrap();
        assert!(!read.is_empty(), "it has ended: {shown:?}");
        shown.push_str(&String::from_utf8_lossy(&read));
    }
    shown
}

fn alive(scratch: &Path) -> usize {
    processes_with(&format!("CUBELOOM_OUTPUTS={}/worker-1/outputs.jsonl", scratch.display()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_stands_for_its_worker_and_its_end_leaves_nothing() {
    let harness = Local::new();
    let job = failed(&harness, &Program::shell("exit 3").workers(2)).await;
    let terminals = harness.local();
    let order = order(&harness, "one", job.clone(), 1);
    let terminal = terminals.open(order).await.unwrap();
    let said = told(&*terminal, "echo $CUBELOOM_RANK $TERM $(tty)\r", "/dev/pts/").await;
    assert!(said.contains("Hello.\r\nagain: ") && said.contains("1 xterm-256color /dev/pts/"), "{said}");
    told(&*terminal, "again\r", "[exit code 3]").await;
    let folder = scratch(&harness, "one");
    assert!(alive(&folder) > 0);
    terminal.end().await;
    assert_eq!((alive(&folder), folder.exists()), (0, false));
    assert!(terminal.read().await.unwrap().is_empty() || terminal.read().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_kills_its_shim_leaves_nothing_either() {
    let harness = Local::new();
    let job = failed(&harness, &Program::shell("exit 3").workers(2)).await;
    let terminal = harness.local().open(order(&harness, "two", job, 1)).await.unwrap();
    told(&*terminal, "(setsid sleep 1000 &); echo $((6 * 7))\r", "42").await;
    let folder = scratch(&harness, "two");
    let started = std::fs::read(folder.join("worker-1/started")).unwrap();
    let started: serde_json::Value = serde_json::from_slice(&started).unwrap();
    let shim = Pid::from_raw(i32::try_from(started["pid"].as_i64().unwrap()).unwrap()).unwrap();
    kill_process(shim, Signal::KILL).unwrap();
    terminal.end().await;
    assert_eq!((alive(&folder), folder.exists()), (0, false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_there_any_more_is_said() {
    let harness = Local::new();
    let job = failed(&harness, &Program::shell("exit 3")).await;
    let refused = harness.local().open(order(&harness, "three", job.clone(), 7)).await.err().unwrap();
    assert_eq!(
        (refused.kind, refused.message.as_str()),
        (FailureKind::CouldNotStart, "the attempt has no such worker")
    );
    std::fs::remove_dir_all(harness.data().join("workspace")).unwrap();
    std::fs::create_dir(harness.data().join("workspace")).unwrap();
    let refused = harness.local().open(order(&harness, "four", job, 0)).await.err().unwrap();
    assert!(refused.message.contains("the run's folder no longer exists"), "{}", refused.message);
    assert!(!scratch(&harness, "three").exists() && !scratch(&harness, "four").exists());
}
