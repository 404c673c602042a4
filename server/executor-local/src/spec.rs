//! What the executor and a shim tell each other: the order over the shim's standard input, the files in the
//! worker's folder, and the shim's exit codes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cubeloom_domain::executor::StopCause;
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_workers::ends::End;
use cubeloom_workers::place::Place;
use serde::{Deserialize, Serialize};

use crate::cgroup::Cgroup;
use crate::look::written;

/// Exists from the moment at which the worker may have run; holds [`Started`], and room for what follows it. It
/// becomes [`EXIT`]: one file, so that a disk that fills up cannot keep the end from being told.
pub const STARTED: &str = "started";
/// Exists when nothing of the worker runs any more; holds [`ExitRecord`].
pub const EXIT: &str = "exit.json";
/// The worker's standard output.
pub const STDOUT: &str = "stdout";
/// The worker's standard error.
pub const STDERR: &str = "stderr";
/// What it used, a JSON line a sample.
pub const USAGE: &str = "usage.jsonl";

/// A wish to stop, in the folder of an attempt, or in that of a worker that alone is to stop.
pub const STOP: &str = "stop";

/// The shim did what it was told; `exit.json` says the rest.
pub const CODE_DONE: i32 = 0;
/// The order did not arrive whole: the server died while it wrote it. Nothing was started.
pub const CODE_NO_ORDER: i32 = 64;
/// Another shim has, or had, this worker.
pub const CODE_LOST_RACE: i32 = 65;
/// The worker's files could not be made; nothing was started, and the note says why.
pub const CODE_NO_FILES: i32 = 66;

/// What a shim is told. It holds secrets, so it goes through a pipe and never to the disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShimSpec {
    /// The attempt and the worker's rank in it, which stand in its note.
    pub attempt: AttemptKey,
    /// The rank.
    pub rank: u32,
    /// The worker's own folder.
    pub folder: PathBuf,
    /// Where a wish to stop the attempt lies.
    pub stop_file: PathBuf,
    /// The server that ordered it; only failpoints use it.
    pub server_pid: u32,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Runs first; may be empty.
    pub setup: Vec<String>,
    /// All variables.
    pub env: Vec<(String, String)>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The uid and gid to run under, where the server may choose it.
    pub user: Option<u32>,
    /// What must not be seen in what it writes: the forms of its secrets.
    #[serde(default)]
    pub masks: Vec<String>,
    /// The file that it reports outputs in, which is masked too.
    #[serde(default)]
    pub outputs: PathBuf,
    /// What bounds it.
    pub limits: Limits,
    /// What it sees of this machine; all that is there when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub view: Option<View>,
    /// What it may open of this machine; all that its uid may when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fence: Option<Fence>,
    /// Its cgroup, where there are any.
    pub cgroup: Option<Cgroup>,
    /// The time between TERM and KILL when the stop file does not say.
    pub grace_ms: u64,
    /// The terminal that it runs in, where it is a person's shell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub terminal: Option<TerminalSpec>,
    /// Whether no server of ours watches over it: then nobody reads its notes, and nobody but the stop file wakes it.
    #[serde(default)]
    pub alone: bool,
}

/// The terminal of a shell. It ends when nobody holds its other end any more: the server that has it is gone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TerminalSpec {
    /// The shell's end of it.
    pub device: PathBuf,
    /// The folder that is removed when it has ended; the worker's own lies in it.
    pub scratch: PathBuf,
}

/// What a worker sees of the machine's files and processes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct View {
    /// The server's folder, which is empty but for what is shown.
    pub hidden: Option<PathBuf>,
    /// Folders and files that are there wherever they lie.
    pub shown: Vec<PathBuf>,
    /// What it sees as `/tmp`.
    pub tmp: Option<PathBuf>,
    /// What it sees as `/dev/shm`.
    pub shm: Option<PathBuf>,
    /// Whether it sees processes of its own uid only.
    pub processes: bool,
}

/// What a worker may open, where its uid is the server's own. What is in none of these may be read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fence {
    /// Absolute, without links: nothing below it, but for what is named here.
    pub hidden: Vec<PathBuf>,
    /// What it may change, too.
    pub write: Vec<PathBuf>,
    /// What it may read.
    pub read: Vec<PathBuf>,
}

/// What bounds a worker.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// CPU that it is guaranteed, in thousandths of a core: its share beside others. 0 is none.
    pub cpu_millis: u64,
    /// CPU that it never exceeds, in thousandths of a core; 0 is no limit.
    #[serde(default)]
    pub cpu_most_millis: u64,
    /// Memory in bytes; 0 is no limit.
    pub memory: u64,
    /// Processes and threads.
    pub pids: u64,
    /// Open files.
    pub nofile: u64,
    /// Bytes of standard output and of standard error, each, that its log begins with; 0 is no limit.
    #[serde(default)]
    pub log: u64,
}

/// Who runs a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Started {
    /// The shim's process.
    pub pid: i32,
    /// When that process began, in clock ticks since boot: a pid alone may be used again.
    pub ticks: u64,
    /// Time.
    pub at: Timestamp,
    /// Where its processes are.
    pub cgroup: Option<Cgroup>,
}

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// How.
    pub end: End,
    /// Whether it had been told to stop before it ended.
    pub stopped: bool,
    /// When its program began; absent when it never did.
    pub started_at: Option<Timestamp>,
    /// End time.
    pub ended_at: Timestamp,
    /// Resource usage.
    pub usage: UsageSummary,
}

/// A wish to stop an attempt; stays on the disk, so that it survives the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopWish {
    /// Reason.
    pub why: StopWhy,
    /// The time between TERM and KILL.
    pub grace_ms: u64,
}

impl StopWish {
    /// What is wanted from outside.
    #[must_use]
    pub fn new(cause: StopCause, grace: Duration) -> Self {
        let why = match cause {
            StopCause::Cancelled | StopCause::Outdone | StopCause::Marked => StopWhy::Cancelled,
            StopCause::Timeout => StopWhy::Timeout,
            StopCause::Preempted => StopWhy::Preempted,
            StopCause::Hung => StopWhy::Hung,
        };
        Self { why, grace_ms: u64::try_from(grace.as_millis()).unwrap_or(u64::MAX) }
    }
}

/// Why workers are stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopWhy {
    /// Somebody wanted it.
    Cancelled,
    /// It took too long.
    Timeout,
    /// Its place is needed.
    Preempted,
    /// It hangs.
    Hung,
    /// Its folder holds more than it may.
    DiskLimit {
        /// Bytes that were found.
        used: u64,
        /// Bytes that it may hold.
        limit: u64,
    },
    /// Its folder has folders nested too deep to be counted.
    TooDeep,
    /// The job has failed or succeeded already.
    Decided,
    /// The worker is one that its job gives back.
    GivenBack,
}

/// A line that a shim sends while it starts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Note {
    /// Whose worker.
    pub attempt: AttemptKey,
    /// Which worker.
    pub rank: u32,
    /// Since when its program runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Timestamp>,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// Where a wish to stop lies, in the folder of an attempt, or in that of a worker that alone is to stop.
#[must_use]
pub fn stop_file(folder: &Path) -> PathBuf {
    folder.join(STOP)
}

/// The wish that lies in a folder.
#[must_use]
pub fn wish_in(folder: impl Into<Place>) -> Option<StopWish> {
    let folder = folder.into();
    written(&folder.other(stop_file(folder.path()))).ok().flatten()
}

impl ShimSpec {
    /// Whether the attempt, or this worker, is to stop.
    #[must_use]
    pub fn is_to_stop(&self) -> bool {
        self.stop_file.exists() || stop_file(&self.folder).exists()
    }

    /// The time between TERM and KILL.
    #[must_use]
    pub fn grace(&self) -> Duration {
        let attempt = self.stop_file.parent().and_then(wish_in);
        let shortest = attempt.into_iter().chain(wish_in(&self.folder)).map(|wish| wish.grace_ms).min();
        Duration::from_millis(shortest.unwrap_or(self.grace_ms))
    }
}
