use std::fs;
use std::fs::File;
use std::process::{Child, Command};

use super::*;

/// Ends at the signal, like programs in Go, which catch all signals.
const DIES: &str = "trap 'exit 3' STKFLT; touch $1; while :; do sleep 0.05; done";
/// A Python program that declares support, and a child of it.
const ANSWERS: &str = "
import os, sys, time
import cubeloom
def in_the_child():
    open(sys.argv[2], 'w').close()
    time.sleep(60)
def in_the_parent():
    open(sys.argv[1], 'w').close()
    time.sleep(60)
in_the_parent() if os.fork() else in_the_child()
";
/// A program that does not import our module. The environment's own `sitecustomize`, which ours shadows, runs
/// too.
const KNOWS_NOTHING: &str = "
import sys, time
def with_its_own_beginning():
    open(sys.argv[1], 'w').close()
    time.sleep(60)
def without():
    with_its_own_beginning()
(with_its_own_beginning if sys.began and 'cubeloom' not in sys.modules else without)()
";
/// A program that declares support and then executes another program.
const BECOMES: &str = "
import os, sys
import cubeloom
os.execvp('bash', ['bash', '-c', sys.argv[2], 'bash', sys.argv[1]])
";

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// A worker's folder with a process in it.
struct Worker {
    folder: tempfile::TempDir,
    process: Child,
}

impl Worker {
    /// Starts a program with these arguments, where `READY` are files, and waits until it has created them
    /// all.
    fn start(words: &[&str], ready: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../task-templates/python/lib");
        let site = folder.path().join("site");
        fs::create_dir(&site).unwrap();
        fs::write(site.join("sitecustomize.py"), "import sys\nsys.began = True\n").unwrap();
        let files: Vec<_> = ready.iter().map(|name| folder.path().join(name)).collect();
        let place = |word: &&str| match ready.iter().position(|name| name == word) {
            Some(at) => files[at].clone().into_os_string(),
            None => word.into(),
        };
        let process = Command::new(words[0])
            .args(words[1..].iter().map(place))
            .env("PYTHONPATH", format!("{library}:{}", site.display()))
            .env("CUBELOOM_OUTPUTS", folder.path().join(OUTPUTS))
            .stderr(File::create(folder.path().join(STDERR)).unwrap())
            .spawn()
            .unwrap();
        let worker = Self { folder, process };
        while !files.iter().all(|file| file.exists()) {
            sleep(Duration::from_millis(5));
        }
        worker
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.process.id()).unwrap()
    }

    fn children(&self) -> Vec<i32> {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.pid()));
        children.unwrap_or_default().split_whitespace().map(|pid| pid.parse().unwrap()).collect()
    }

    /// The first child of the process.
    fn child(&self) -> i32 {
        self.children()[0]
    }

    fn look(&self) -> String {
        look_at(self.pid(), self.folder.path(), soon())
    }

    /// Whether the process still runs after it had time to end.
    fn lives(&mut self) -> bool {
        sleep(Duration::from_millis(300));
        self.process.try_wait().unwrap().is_none()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        for child in self.children().into_iter().filter_map(Pid::from_raw) {
            let _ = rustix::process::kill_process(child, Signal::KILL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn threads_are_told_and_nobody_is_asked_who_would_die_of_it() {
    let mut sleeper = Worker::start(&["sleep", "60"], &[]);
    let pid = sleeper.pid();
    // Until it sleeps, it is a copy of this process, or is executing another program.
    while !fs::read_to_string(format!("/proc/{pid}/status")).unwrap().contains("(sleeping)") {
        sleep(Duration::from_millis(5));
    }
    let text = sleeper.look();
    let begin = format!("process {pid}: sleep\n  thread {pid} (sleep): S (sleeping)");
    assert!(text.starts_with(&begin), "{text}");
    assert!(sleeper.lives(), "it was not asked");
}

#[test]
fn arguments_are_not_told() {
    let dies = &format!(": hunter2; {DIES}");
    let worker = Worker::start(&["bash", "-c", dies, "bash", "ready", "--password=hunter2"], &["ready"]);
    let said = worker.look();
    let begin = format!("process {}: bash\n", worker.pid());
    assert!(said.starts_with(&begin) && !said.contains("hunter2"), "{said}");
    // One with its arguments in its name, as servers do, and one with another name than its program.
    let named =
        "exec -a 'serve: --password=hunter2' sleep 60 & touch $1; exec -a /opt/hunter2/serve sleep 60";
    let mut worker = Worker::start(&["bash", "-c", named, "bash", "ready"], &["ready"]);
    let both = [worker.child(), worker.pid()].map(|pid| {
        while fs::read_to_string(format!("/proc/{pid}/comm")).unwrap() != "sleep\n" {
            sleep(Duration::from_millis(5));
        }
        look_at(pid, worker.folder.path(), soon())
    });
    let begins = [("serve:", 0), ("serve", 1)];
    assert!(begins.iter().all(|(name, at)| both[*at].contains(&format!(": {name} (sleep)\n"))), "{both:?}");
    assert!(both.iter().all(|said| !said.contains("hunter2")) && worker.lives(), "{both:?}");
}

#[test]
fn who_has_not_said_that_it_answers_is_not_asked_whatever_it_catches() {
    let mut worker = Worker::start(&["bash", "-c", DIES, "bash", "ready"], &["ready"]);
    let pid = Pid::from_raw(worker.pid()).unwrap();
    assert!(catches(pid), "it would be asked otherwise");
    let text = worker.look();
    assert!(text.contains("(bash): "), "{text}");
    assert!(worker.lives(), "{text}");
    // Another process's declaration does not count.
    fs::write(worker.folder.path().join(ANSWERING), format!("{pid}\n")).unwrap();
    worker.look();
    assert!(worker.lives());
    rustix::process::kill_process(pid, ASKED).unwrap();
    assert!(!worker.lives(), "it does end of it");
}

#[test]
fn a_program_of_python_that_knows_nothing_of_it_tells_its_frames() {
    let worker = Worker::start(&["python3", "-c", KNOWS_NOTHING, "ready"], &["ready"]);
    let said = worker.look();
    assert!(said.contains("in with_its_own_beginning") && !said.contains("in without"), "{said}");
}

#[test]
fn who_said_that_it_answers_and_became_another_program_is_not_asked() {
    let mut worker = Worker::start(&["python3", "-c", BECOMES, "ready", DIES], &["ready"]);
    assert!(worker.folder.path().join(ANSWERING).exists() && catches(Pid::from_raw(worker.pid()).unwrap()));
    let text = worker.look();
    assert!(text.contains("(bash): "), "{text}");
    assert!(worker.lives(), "{text}");
}

#[test]
fn who_has_said_that_it_answers_is_asked_and_so_are_its_children() {
    let mut worker = Worker::start(&["python3", "-c", ANSWERS, "parent", "child"], &["parent", "child"]);
    let text = worker.look();
    assert!(text.contains("in in_the_parent") && !text.contains("in in_the_child"), "{text}");
    let child = look_at(worker.child(), worker.folder.path(), soon());
    assert!(child.contains("in in_the_child") && !child.contains("in in_the_parent"), "{child}");
    assert!(worker.lives());
}

#[test]
fn long_texts_end_with_a_line() {
    let line = "ä frame\n";
    let text = cut(&line.repeat(KEPT));
    assert!(text.len() <= KEPT + "…\n".len() && text.ends_with("frame\n…\n"), "{}", text.len());
    assert_eq!(cut(line), line);
}

fn names(count: u32) -> Vec<WorkerName> {
    (0..count).map(|index| WorkerName { role: "worker".into(), index }).collect()
}

#[test]
fn what_was_got_of_a_worker_that_takes_too_long_is_kept_and_the_others_are_looked_at() {
    let limits = Limits { worker: Duration::from_millis(300), all: Duration::from_secs(60) };
    let began = Instant::now();
    let found = gather(&names(3), limits, |name, _, tell| {
        tell(format!("process {}\n", name.index));
        if name.index == 0 {
            // The kernel blocks the reader.
            sleep(Duration::from_secs(30));
        }
        true
    });
    let texts: Vec<_> = found.iter().map(|stack| (stack.worker.as_str(), stack.text.as_str())).collect();
    let late = "process 0\nthe rest did not respond in time\n";
    assert_eq!(texts, [("worker-0", late), ("worker-1", "process 1\n"), ("worker-2", "process 2\n")]);
    assert!(began.elapsed() < Duration::from_secs(20), "nobody waits for it");
}

#[test]
fn all_workers_together_have_a_time_and_of_those_beyond_it_that_is_said() {
    let limits = Limits { worker: Duration::from_secs(5), all: Duration::from_millis(300) };
    let began = Instant::now();
    let found = gather(&names(2 * AT_ONCE as u32), limits, |name, until, tell| {
        if Instant::now() < until {
            tell(format!("process {}\n", name.index));
        }
        sleep(Duration::from_secs(30));
        false
    });
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let said = |at: usize| found[at].text.as_str();
    assert_eq!(found.len(), 2 * AT_ONCE);
    assert_eq!(said(0), "process 0\nthe rest did not respond in time\n");
    assert_eq!(said(AT_ONCE), "the rest did not respond in time\n");
}

#[test]
fn so_many_workers_as_are_looked_at_have_all_their_time() {
    let rounds = u32::try_from(WORKERS.div_ceil(AT_ONCE)).unwrap();
    assert!(LIMITS.worker * rounds <= LIMITS.all, "{LIMITS:?}");
}
