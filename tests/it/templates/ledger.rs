//! The ledger entries of a distributed task's workers, and killing one of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::rig::{folder, job};
use crate::support::{TestApp, instance, processes, wait_within};

/// How long a gang may take to start working, including its packages if they are not installed yet.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// One rank's entry: `{rank, pid, worker, role, index, host, cgroup, ...}`.
pub type Entry = Value;

/// The entries in a run's folder, by rank.
pub fn read(run_dir: &Path) -> Vec<Entry> {
    let files = fs::read_dir(run_dir.join("ledger")).into_iter().flatten().flatten();
    let parse = |path: &Path| serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
    let finished =
        files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|it| it == "json"));
    let mut entries: Vec<Entry> = finished.map(|path| parse(&path)).collect();
    entries.sort_by_key(|entry| entry["rank"].as_u64());
    entries
}

/// Ranks are numbered without gaps and isolated: separate processes, workers, addresses and cgroups.
#[allow(clippy::print_stdout, reason = "the reader of a test's report should know what it left out")]
pub fn assert_apart(app: &TestApp, entries: &[Entry], ranks: usize) {
    assert_eq!(entries.len(), ranks, "{entries:?}");
    for (rank, entry) in entries.iter().enumerate() {
        assert_eq!(entry["rank"], rank, "{entries:?}");
        assert!(
            entry["host"].as_str().expect("an address").starts_with("127."),
            "a loopback address: {entry}"
        );
    }
    for what in ["pid", "worker", "host"] {
        let values: BTreeSet<String> = entries.iter().map(|entry| entry[what].to_string()).collect();
        assert_eq!(values.len(), ranks, "each has its own {what}: {entries:?}");
    }
    if !has_cgroups(app) {
        println!("control groups cannot be written here: they are not compared");
        return;
    }
    let of = |entry: &Entry| -> BTreeSet<String> {
        let lines =
            entry["cgroup"].as_array().expect("lines").iter().map(|line| line.as_str().expect("a line"));
        lines.filter(|line| line.contains("/cubeloom")).map(str::to_owned).collect()
    };
    let groups: Vec<BTreeSet<String>> = entries.iter().map(of).collect();
    assert!(groups.iter().all(|lines| !lines.is_empty()), "each is in a control group: {entries:?}");
    let distinct: BTreeSet<&String> = groups.iter().flatten().collect();
    assert_eq!(
        distinct.len(),
        groups.iter().map(BTreeSet::len).sum::<usize>(),
        "none is shared: {entries:?}"
    );
}

fn has_cgroups(app: &TestApp) -> bool {
    let found = app.call(&["check", "--output", "json"]);
    let found: Vec<Value> = serde_json::from_str(&found.out).expect("JSON");
    let line = found.iter().find(|each| each["subject"] == "control groups").expect("a line");
    line["level"] == "ok"
}

/// Runs a test pipeline whose gang works until it is disturbed. Once `busy` accepts its data folder, kills
/// the worker with rank 1. Expects this worker to be named as the first cause, and the others to leave
/// nothing behind. Returns the failure message.
pub fn killing_rank_1_fails(
    app: &TestApp,
    name: &str,
    words: &[&str],
    ranks: usize,
    busy: impl Fn(&Path) -> bool,
) -> String {
    let running = app.start(&[&["run", &job(name)], words].concat());
    let data = app.data();
    wait_within(PATIENCE, "the ranks to meet and work", || busy(&data));
    let run = app.latest();
    let entries = read(&folder(&run));
    assert_eq!(entries.len(), ranks, "{entries:?}");
    let victim = entries.iter().find(|entry| entry["rank"] == 1).expect("rank 1");
    kill_process(worker_of(app, victim), Signal::KILL).expect("it can be killed");
    let done = running.wait();
    assert_eq!(done.code, Some(1), "{done:?}");
    let run = app.latest();
    let failure = &instance(&run, "gang")["state"]["failure"];
    assert_eq!(failure["kind"], "signal", "{failure}");
    assert_eq!(failure["signal"], 9, "{failure}");
    assert_eq!(failure["worker"]["role"], victim["role"], "{failure}");
    assert_eq!(failure["worker"]["index"], victim["index"], "{failure}");
    let sentence = format!("{} was ended by signal 9 (KILL)", victim["worker"].as_str().expect("a name"));
    let message = failure["message"].as_str().expect("a message");
    assert!(message.starts_with(&sentence), "{message}");
    assert!(done.err.contains(&sentence), "{done:?}");
    let left = wait_for_none(app);
    assert!(left.is_empty(), "still running: {left:?}");
    message.into()
}

/// Runs a test pipeline until its program has written `busy` into the run's folder, and kills the worker with
/// this index in its role. Expects it to be named as the first cause, and the others to leave nothing behind.
pub fn killing_a_worker_fails(app: &TestApp, name: &str, words: &[&str], role: &str, index: u32) {
    let running = app.start(&[&["run", &job(name)], words].concat());
    wait_within(PATIENCE, "the program to run", || is_there(&app.data(), "runs", "busy"));
    let pid = of_worker(app, role, index);
    kill_process(worker_of(app, &json!({"pid": pid})), Signal::KILL).expect("it can be killed");
    assert_eq!(running.wait().code, Some(1));
    let run = app.latest();
    let failure = &instance(&run, "gang")["state"]["failure"];
    assert_eq!((&failure["kind"], &failure["signal"]), (&"signal".into(), &9.into()), "{failure}");
    assert_eq!(failure["worker"], json!({"role": role, "index": index}), "{failure}");
    assert!(wait_for_none(app).is_empty());
}

/// The process that the platform started for an entry's process: the child of the shim.
pub fn worker_of(app: &TestApp, entry: &Entry) -> Pid {
    let shims = processes::shims(&app.data().to_string_lossy());
    let mut pid = i32::try_from(entry["pid"].as_i64().expect("a pid")).expect("a pid");
    loop {
        let parent = parent(pid).unwrap_or_else(|| panic!("no shim above {entry}: {shims:?}"));
        if shims.contains(&parent) {
            return Pid::from_raw(pid).expect("a pid");
        }
        pid = parent;
    }
}

/// A process of the worker with this index in its role.
pub fn of_worker(app: &TestApp, role: &str, index: u32) -> i32 {
    let wanted = [format!("CUBELOOM_ROLE={role}"), format!("CUBELOOM_INDEX={index}")];
    *with_variables(&app.data(), &wanted).first().unwrap_or_else(|| panic!("no {role} {index}"))
}

/// The worker processes of a data folder with these environment variables (`NAME=value`).
pub fn with_variables(data: &Path, wanted: &[String]) -> Vec<i32> {
    let has_them = |pid: &i32| {
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        wanted.iter().all(|one| variables.split(|byte| *byte == 0).any(|entry| entry == one.as_bytes()))
    };
    processes::workers(&data.to_string_lossy()).into_iter().filter(has_them).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent > 1)
}

/// The workers that are left after a short while.
pub fn wait_for_none(app: &TestApp) -> Vec<i32> {
    let mark = app.data().to_string_lossy().into_owned();
    let deadline = Instant::now() + Duration::from_secs(3);
    loop {
        let left = processes::workers(&mark);
        if left.is_empty() || Instant::now() > deadline {
            return left;
        }
        sleep(Duration::from_millis(20));
    }
}

/// Whether a run's folder below `runs` or `checkpoints` has a file whose name is or begins with this.
pub fn is_there(data: &Path, kind: &str, name: &str) -> bool {
    let folders = fs::read_dir(data.join("workspace/default").join(kind)).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with(name))
}
