//! The protocol between executor and shim: the order over the shim's standard input, the files in the
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

/// Exists from the moment at which the worker may have run; contains [`Started`], and space for the end. It
/// becomes [`EXIT`]: one file, so that a full disk cannot prevent the record of the end.
pub const STARTED: &str = "started";
/// Exists once nothing of the worker runs any more; contains [`ExitRecord`].
pub const EXIT: &str = "exit.json";
/// The worker's standard output.
pub const STDOUT: &str = "stdout";
/// The worker's standard error.
pub const STDERR: &str = "stderr";
/// Usage samples, one JSON line each.
pub const USAGE: &str = "usage.jsonl";

/// A stop request, in the folder of an attempt, or of a single worker.
pub const STOP: &str = "stop";

/// The shim executed its order; `exit.json` has the result.
pub const CODE_DONE: i32 = 0;
/// The order was incomplete: the server died while it wrote it. Nothing was started.
pub const CODE_NO_ORDER: i32 = 64;
/// Another shim has, or had, this worker.
pub const CODE_LOST_RACE: i32 = 65;
/// The worker's files could not be created; nothing was started, and the message has the reason.
pub const CODE_NO_FILES: i32 = 66;

/// The order to a shim. It contains secrets, so it goes through a pipe and never to disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShimSpec {
    /// The attempt; its message contains it with the rank.
    pub attempt: AttemptKey,
    pub rank: u32,
    /// The worker's own folder.
    pub folder: PathBuf,
    /// Path of the attempt's stop request.
    pub stop_file: PathBuf,
    /// The server that sent the order; only failpoints use it.
    pub server_pid: u32,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Runs first; may be empty.
    pub setup: Vec<String>,
    /// The complete environment.
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
    /// The uid and gid to switch to, if the server can.
    pub user: Option<u32>,
    /// The strings to mask in its output: encodings of its secrets.
    #[serde(default)]
    pub masks: Vec<String>,
    /// Its report file, which is masked too.
    #[serde(default)]
    pub outputs: PathBuf,
    pub limits: Limits,
    /// Its view of this machine; `None` hides nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub view: Option<View>,
    /// Its file access rules; `None`: whatever its uid may access.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fence: Option<Fence>,
    /// Its cgroup, if any.
    pub cgroup: Option<Cgroup>,
    /// Time between TERM and KILL, unless the stop file has one.
    pub grace_ms: u64,
    /// Its terminal, if it is an interactive shell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub terminal: Option<TerminalSpec>,
    /// Whether it has no server: then its messages have no reader, and only the stop file stops it.
    #[serde(default)]
    pub alone: bool,
}

/// The terminal of a shell. It ends when the other end is closed, because the server that holds it is gone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TerminalSpec {
    /// The shell's end of it.
    pub device: PathBuf,
    /// The folder to remove after its end; it contains the worker's own.
    pub scratch: PathBuf,
}

/// A worker's view of the machine's files and processes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct View {
    /// The server's folder, empty except for what is shown.
    pub hidden: Option<PathBuf>,
    /// Folders and files that are visible wherever they are.
    pub shown: Vec<PathBuf>,
    /// The folder that it sees as `/tmp`.
    pub tmp: Option<PathBuf>,
    /// The folder that it sees as `/dev/shm`.
    pub shm: Option<PathBuf>,
    /// Whether it sees only processes of its own uid.
    pub processes: bool,
}

/// File access rules of a worker whose uid is the server's own. Paths in none of these are readable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fence {
    /// Absolute, without symlinks: nothing below them is accessible, except the paths named here.
    pub hidden: Vec<PathBuf>,
    /// Paths that it may also change.
    pub write: Vec<PathBuf>,
    /// Paths that it may read.
    pub read: Vec<PathBuf>,
}

/// Limits of a worker.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Guaranteed CPU in millicores: its share beside others. 0 is none.
    pub cpu_millis: u64,
    /// Maximum CPU in millicores; 0 is no limit.
    #[serde(default)]
    pub cpu_most_millis: u64,
    /// Memory in bytes; 0 is no limit.
    pub memory: u64,
    /// Processes and threads.
    pub pids: u64,
    /// Open files.
    pub nofile: u64,
    /// Maximum bytes of a worker's log, per stream; the log keeps its beginning. 0 is no limit.
    #[serde(default)]
    pub log: u64,
}

/// The shim that runs a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Started {
    /// The shim's process.
    pub pid: i32,
    /// Start time of that process, in clock ticks since boot: pids are reused.
    pub ticks: u64,
    pub at: Timestamp,
    /// The cgroup of its processes.
    pub cgroup: Option<Cgroup>,
}

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    pub end: End,
    /// Whether it had been stopped before it ended.
    pub stopped: bool,
    /// Start of its program; `None` if it never started.
    pub started_at: Option<Timestamp>,
    pub ended_at: Timestamp,
    pub usage: UsageSummary,
}

/// A request to stop an attempt; stored on disk, so that it survives the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopWish {
    pub why: StopWhy,
    /// Time between TERM and KILL.
    pub grace_ms: u64,
}

impl StopWish {
    /// A request from outside.
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
    /// It was cancelled.
    Cancelled,
    /// Its timeout expired.
    Timeout,
    /// It is preempted.
    Preempted,
    /// It hangs.
    Hung,
    /// Its folder exceeds the size limit.
    DiskLimit {
        /// Bytes found.
        used: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// Its folder is nested too deep to be counted.
    TooDeep,
    /// The job has failed or succeeded already.
    Decided,
    /// Its job releases this worker.
    GivenBack,
}

/// A line that a shim sends while it starts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Note {
    pub attempt: AttemptKey,
    pub rank: u32,
    /// Start of its program.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Timestamp>,
    /// Why it did not start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// Path of the stop request, in the folder of an attempt, or of a single worker.
#[must_use]
pub fn stop_file(folder: &Path) -> PathBuf {
    folder.join(STOP)
}

/// The stop request in a folder.
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

    /// Time between TERM and KILL.
    #[must_use]
    pub fn grace(&self) -> Duration {
        let attempt = self.stop_file.parent().and_then(wish_in);
        let shortest = attempt.into_iter().chain(wish_in(&self.folder)).map(|wish| wish.grace_ms).min();
        Duration::from_millis(shortest.unwrap_or(self.grace_ms))
    }
}
