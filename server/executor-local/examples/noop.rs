//! Benchmarks the overhead of a task: from submission to the report of its end. Runs `/bin/true`, next to a
//! bare fork and exec of the same program. `noop <shim> <count> <pause between tasks in ms>`.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::print_stdout)]

#[path = "../tests/it/lower.rs"]
mod lower;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cubeloom_domain::executor::{Event, Executor, Observer, Submission};
use cubeloom_domain::lowered::{Bindings, Lowered};
use cubeloom_domain::{AttemptKey, Clock, RunId};
use cubeloom_executor_local::{LocalConfig, LocalExecutor};
use cubeloom_testkit::clock::SystemClock;
use cubeloom_testkit::conformance::{Program, Recorder};

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (count, pause) = (arguments[2].parse::<u32>().unwrap(), arguments[3].parse().unwrap());
    let folder = tempfile::Builder::new().prefix("cubeloom-").tempdir().unwrap();
    open(folder.path());
    let config = LocalConfig::new(folder.path().join("data"), &arguments[1]);
    let executor = LocalExecutor::new(config, Arc::new(SystemClock)).unwrap();
    let recorder = Arc::new(Recorder::default());
    executor.attach(Arc::clone(&recorder) as Arc<dyn Observer>);
    let (mut tasks, mut bare, mut ran) = (Vec::new(), Vec::new(), Vec::new());
    let run = RunId::new(SystemClock.now(), 1);
    for n in 1..=count {
        let key = AttemptKey { run: run.clone(), task: "noop".into(), instance: 0, n };
        let job = Program::words(&["/bin/true"]).job(key.clone());
        let Bindings::Local(bindings) = executor.bind(&job).unwrap() else { return };
        let lowered = lower::lower(&job, &bindings, Path::new("/dev/null"));
        let submission = Submission { job: Arc::new(job), lowered: Arc::new(Lowered::Local(lowered)) };
        let began = Instant::now();
        executor.submit(submission).await;
        let ended = recorder.ended(&key).await;
        tasks.push(began.elapsed());
        ran.push(ended.ended_at.since(ended.started_at.unwrap()));
        assert!(recorder.events(&key).iter().any(|event| matches!(event, Event::Started { .. })));
        executor.release(&key);
        let began = Instant::now();
        std::process::Command::new("/bin/true").status().unwrap();
        bare.push(began.elapsed());
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
    for (name, times) in [("task", &mut tasks), ("bare", &mut bare), ("of the task: program", &mut ran)] {
        times.sort_unstable();
        let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
        println!("{name}: median {:?}, p99 {:?}", at(50), at(99));
    }
}

fn open(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}
