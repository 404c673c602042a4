//! Stack traces of an attempt's workers, collected by a command in their containers (`pods/exec`) with their
//! project's account.
//!
//! Like on the local machine, it signals programs that support it, which write to their log; the log is
//! followed. Without `python3` in the image, or without the right, it reports that there are no traces.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::hang::WorkerStack;
use cubeloom_workers::logs;
use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::AttachParams;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, sleep, timeout_at};

use crate::cluster::Cluster;
use crate::folders::LOG;
use crate::pods::{PodState, PodView};

/// The collector script.
const PROGRAM: &str = include_str!("stacks.py");
/// A worker's folder in its pod.
const ROOT: &str = "/cubeloom";
/// Maximum number of workers per attempt, and of concurrent ones.
const WORKERS: usize = 64;
const AT_ONCE: usize = 8;
/// Timeout per worker. The caller waits for 45 seconds, and gets nothing after that.
const LIMIT: Duration = Duration::from_secs(5);
/// How long to wait for output in the log, and how long the log must be silent to be complete.
const PATIENCE: Duration = Duration::from_secs(2);
const SILENCE: Duration = Duration::from_millis(300);
const STEP: Duration = Duration::from_millis(50);
/// Maximum output per worker, in bytes.
const KEPT: usize = 32 << 10;

/// Collects the traces of all workers. Each known worker has an entry; if its trace is unavailable, the entry
/// says why.
pub async fn take(cluster: &Arc<Cluster>, key: &AttemptKey) -> Vec<WorkerStack> {
    let Some((namespace, seen)) = cluster.board.find(&key.object_name()) else { return Vec::new() };
    let pods: Vec<PodView> = seen.live_pods().take(WORKERS).cloned().collect();
    let api: Api<Pod> = Api::namespaced(cluster.client().await, &namespace);
    let look = |pod: PodView| {
        let (api, log) = (api.clone(), cluster.folders.worker(key, &pod.worker).join(LOG));
        async move {
            let text = look_at(cluster, &api, &pod, log).await;
            WorkerStack { worker: pod.worker.to_string(), text }
        }
    };
    stream::iter(pods).map(look).buffered(AT_ONCE).collect().await
}

/// The trace of one worker, or a sentence why there is none.
async fn look_at(cluster: &Cluster, api: &Api<Pod>, pod: &PodView, log: PathBuf) -> String {
    let unknown = |why: &str| format!("no stack trace: {why}\n");
    if !matches!(pod.state, PodState::Running { .. }) {
        return unknown("its pod does not run");
    }
    let until = Instant::now() + LIMIT;
    let from = length(&log);
    let said = match timeout_at(until, run(cluster, api, pod)).await {
        Ok(Ok(said)) => said,
        Ok(Err(why)) => return unknown(&why),
        Err(_) => return unknown(&format!("its pod did not respond within {} seconds", LIMIT.as_secs())),
    };
    let (asked, processes) = match understood(&said) {
        Ok(told) => told,
        Err(why) => return unknown(&why),
    };
    let answers = match asked {
        0 => String::new(),
        1.. => answered(&log, from, until).await,
    };
    let silent =
        if asked > 0 && answers.is_empty() { "some processes did not respond in time\n" } else { "" };
    cut(format!("{processes}{answers}{silent}"))
}

/// Parses the output of [`PROGRAM`]: the number of signalled processes, and the text about all. An error says
/// what is wrong.
fn understood(said: &str) -> Result<(u32, &str), String> {
    let (first, processes) = said.split_once('\n').unwrap_or((said, ""));
    let asked =
        first.parse().map_err(|_| format!("the command in its pod printed `{}`", cut(first.to_owned())))?;
    if processes.is_empty() {
        return Err("its container has no visible process".into());
    }
    Ok((asked, processes))
}

/// Runs the script, and returns its output.
async fn run(cluster: &Cluster, api: &Api<Pod>, pod: &PodView) -> Result<String, String> {
    let container = pod.containers.last().ok_or("it has no container")?;
    let params = AttachParams::default().container(container).stdin(false);
    let words = ["python3", "-c", PROGRAM, ROOT];
    let begun = cluster.ask("reading a worker's stack traces", api.exec(&pod.name, words, &params)).await;
    let mut process = begun.map_err(|refused| refused.message().to_owned())?;
    let parts = (process.stdout(), process.stderr(), process.take_status());
    let (Some(stdout), Some(stderr), Some(status)) = parts else {
        return Err("the cluster did not return the output of a command in its pod".into());
    };
    let (said, wrong) = tokio::join!(text(stdout), text(stderr));
    let status = status.await.and_then(|status| status.message);
    if said.is_empty() {
        let last = wrong.lines().last().map(ToOwned::to_owned);
        return Err(last.or(status).unwrap_or_else(|| "the command in its pod printed nothing".into()));
    }
    Ok(said)
}

/// Reads a stream up to the limit. Reads the rest too: the writer would block otherwise.
async fn text(mut stream: impl AsyncRead + Unpin) -> String {
    let (mut kept, mut piece) = (Vec::new(), vec![0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut piece).await {
        let room = KEPT.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(&piece[..room]);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// What was added to a worker's log beyond the length `from`, once it is silent.
async fn answered(log: &Path, from: u64, until: Instant) -> String {
    let until = until.min(Instant::now() + PATIENCE);
    let (mut silent, mut now) = (Duration::ZERO, from);
    while Instant::now() < until && (now == from || silent < SILENCE) {
        sleep(STEP).await;
        let longer = length(log);
        silent = if longer == now { silent + STEP } else { Duration::ZERO };
        now = longer;
    }
    let piece = logs::range(log, from, KEPT);
    piece.map(|piece| String::from_utf8_lossy(&piece.bytes).into_owned()).unwrap_or_default()
}

fn length(log: &Path) -> u64 {
    logs::len(log).unwrap_or_default()
}

/// Truncates a text at the end of a line.
fn cut(mut text: String) -> String {
    if text.len() > KEPT {
        text.truncate(text.floor_char_boundary(KEPT));
        text.truncate(text.rfind('\n').map_or(text.len(), |at| at + 1));
        text.push_str("…\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Duration as Time;

    use super::*;

    /// A program that supports the signal, as programs that import `cubeloom` do, and then waits.
    const ANSWERS: &str = "import faulthandler, fcntl, os, sys, time\n\
        faulthandler.register(16, file=2, all_threads=True, chain=False)\n\
        file = open(sys.argv[1], 'wb')\n\
        fcntl.lockf(file, fcntl.LOCK_EX, 1, os.getpid())\n\
        print('ready', flush=True)\n\
        def where_it_hangs():\n    time.sleep(60)\n\
        where_it_hangs()\n";

    fn said(folder: &Path) -> String {
        let mut asked = Command::new("python3").arg("-c").arg(PROGRAM).arg(folder).output().unwrap();
        // The test sees all processes of this machine, as if it were one container.
        asked.stdout.truncate(KEPT);
        String::from_utf8_lossy(&asked.stdout).into_owned()
    }

    #[tokio::test]
    async fn a_program_that_says_so_is_asked_and_its_answer_is_in_its_log() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        let log = folder.path().join("stdout");
        let answering = folder.path().join("work/.cubeloom-answers");
        let file = || std::fs::File::options().create(true).append(true).open(&log).unwrap();
        let mut program = Command::new("python3")
            .args(["-c", ANSWERS])
            .arg(&answering)
            .stdout(Stdio::from(file()))
            .stderr(Stdio::from(file()))
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while !std::fs::read_to_string(&log).unwrap_or_default().contains("ready") {
            assert!(begun.elapsed() < Time::from_secs(30), "the program does not begin");
            sleep(STEP).await;
        }
        let from = length(&log);
        // A lock of another process is no consent.
        let pid = i32::try_from(program.id()).unwrap();
        let asks = |pid: i32| {
            let made = format!(
                "made = {{'__name__': 'look'}}\nexec(__import__('sys').argv[1], made)\n\
                 print(made['catches']({pid}) and made['has_said']({pid}, __import__('sys').argv[2]))"
            );
            let told = Command::new("python3").args(["-c", &made, PROGRAM]).arg(&answering).output().unwrap();
            String::from_utf8_lossy(&told.stdout).trim().to_owned()
        };
        assert_eq!((asks(pid), asks(1)), ("True".to_owned(), "False".to_owned()));
        assert!(Command::new("kill").args(["-16", &pid.to_string()]).status().unwrap().success());
        let told = answered(&log, from, Instant::now() + Time::from_secs(20)).await;
        program.kill().unwrap();
        program.wait().unwrap();
        assert!(told.contains("where_it_hangs"), "{told}");
    }

    #[test]
    fn of_other_processes_the_threads_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let text = said(folder.path());
        let (asked, processes) = understood(&text).unwrap();
        assert_eq!(asked, 0);
        assert!(processes.starts_with("process ") && processes.contains("\n  thread "), "{processes}");
    }

    #[test]
    fn what_tells_nothing_is_said_to() {
        assert_eq!(understood("2\nprocess 1: a\n"), Ok((2, "process 1: a\n")));
        assert_eq!(understood("0\n").unwrap_err(), "its container has no visible process");
        assert_eq!(understood("what?\nno").unwrap_err(), "the command in its pod printed `what?`");
    }

    #[test]
    fn a_long_text_ends_with_a_line() {
        let text = cut("ab\n".repeat(KEPT));
        assert!(text.len() <= KEPT + 4 && text.ends_with("ab\n…\n"));
    }
}
