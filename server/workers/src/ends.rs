//! How a worker ended, as data and as text.

use std::time::Duration;

use cubeloom_domain::outcome::{Failure, FailureKind, WorkerName};
use cubeloom_domain::{Span, Timestamp};
use serde::{Deserialize, Serialize};

/// How late an end may be recorded on a machine with all CPUs busy, in microseconds.
const LATE: i64 = 2_000_000;

/// The signal that cannot be ignored.
const SIGKILL: i32 = 9;

/// How a worker's process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum End {
    /// With an exit code.
    Exit {
        /// The exit code.
        code: i32,
    },
    /// By a signal.
    Signal {
        /// The signal's number.
        signal: i32,
    },
    /// It was OOM killed.
    OutOfMemory,
    /// Its `setup` command failed.
    SetupFailed {
        /// Its exit code, if it had one.
        code: Option<i32>,
        /// The signal, if one ended it.
        signal: Option<i32>,
    },
    /// It could not be started.
    CouldNotStart {
        /// Reason, as a sentence.
        message: String,
    },
    /// It was stopped before it started.
    NeverRan,
    /// Its monitoring process died without a record.
    Lost,
    /// The cluster ended it at its timeout.
    TimedOut,
    /// Its node was drained or under resource pressure.
    Evicted {
        /// The cluster's reason.
        message: String,
    },
    /// Its node lost a GPU.
    CardLost {
        /// The cluster's message.
        message: String,
    },
    /// Its node is gone or unreachable.
    NodeLost {
        /// The cluster's message.
        message: String,
    },
}

impl End {
    /// Whether its program succeeded.
    #[must_use]
    pub fn is_well(&self) -> bool {
        *self == Self::Exit { code: 0 }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Finish<'a> {
    pub end: &'a End,
    /// When its program started. `None` if it never did.
    pub started_at: Option<Timestamp>,
    pub ended_at: Timestamp,
}

impl Finish<'_> {
    /// The failure of a job caused by this worker. `others` were stopped because of it; `last_lines` are its
    /// last log lines.
    #[must_use]
    pub fn cause(&self, worker: &WorkerName, others: usize, last_lines: Vec<String>) -> Failure {
        let because = match others {
            0 => String::new(),
            1 => "; the other worker was stopped because of it".into(),
            n => format!("; {n} other workers were stopped because of it"),
        };
        let (kind, exit_code, signal) = kind_of(self.end);
        Failure {
            kind,
            message: format!("{worker} {}{because}", self.sentence()),
            worker: Some(worker.clone()),
            node: None,
            exit_code,
            signal,
            last_lines: if kind == FailureKind::CouldNotStart { Vec::new() } else { last_lines },
        }
    }

    /// The time of its failure, to find the first of several. Peers notice a kill at once and exit, and their
    /// ends may be recorded earlier. A peer's exit never causes a kill, so a kill counts as earlier.
    #[must_use]
    pub fn order(&self) -> Timestamp {
        match self.end {
            End::Signal { signal: SIGKILL } | End::OutOfMemory => Timestamp(self.ended_at.0 - LATE),
            _ => self.ended_at,
        }
    }

    /// What happened to a worker, as a clause after its name.
    fn sentence(&self) -> String {
        let after =
            self.started_at.map_or(String::new(), |began| format!(" after {}", span(began, self.ended_at)));
        match self.end {
            End::Exit { code } => format!("ended with exit code {code}{after}"),
            End::Signal { signal } => format!("was ended by signal {}{after}", signal_name(*signal)),
            End::OutOfMemory => format!("was OOM killed{after}"),
            End::SetupFailed { code: Some(code), .. } => {
                format!("did not run: its setup ended with exit code {code}")
            }
            End::SetupFailed { signal, .. } => {
                format!("did not run: its setup was ended by signal {}", signal_name(signal.unwrap_or(0)))
            }
            End::CouldNotStart { message } => format!("could not start: {message}"),
            End::NeverRan => "never ran".into(),
            End::Lost => "is lost: its supervising process ended without a record".into(),
            End::TimedOut => format!("was stopped{after}, its timeout"),
            End::Evicted { message } => format!("was evicted{after}: {message}"),
            End::CardLost { message } => format!("lost its GPU{after}: {message}"),
            End::NodeLost { message } => format!("is lost with its node{after}: {message}"),
        }
    }
}

fn kind_of(end: &End) -> (FailureKind, Option<i32>, Option<i32>) {
    match *end {
        End::Exit { code } => (FailureKind::Exit, Some(code), None),
        End::Signal { signal } => (FailureKind::Signal, None, Some(signal)),
        End::OutOfMemory => (FailureKind::OutOfMemory, None, None),
        End::SetupFailed { code, signal } => (FailureKind::SetupFailed, code, signal),
        End::CouldNotStart { .. } => (FailureKind::CouldNotStart, None, None),
        End::TimedOut => (FailureKind::Timeout, None, None),
        End::Evicted { .. } => (FailureKind::Preempted, None, None),
        End::NeverRan | End::Lost | End::CardLost { .. } | End::NodeLost { .. } => {
            (FailureKind::Lost, None, None)
        }
    }
}

/// The time between two timestamps, for display: exact below ten seconds.
#[must_use]
pub fn span(from: Timestamp, to: Timestamp) -> String {
    let exact = to.since(from);
    match exact.as_secs() {
        0 => Span(exact).to_string(),
        1..10 => format!("{}s", (exact.as_secs_f64() * 10.0).round() / 10.0),
        seconds => Span(Duration::from_secs(seconds)).to_string(),
    }
}

/// A signal with its name: `9 (KILL)`.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "HUP",
        2 => "INT",
        3 => "QUIT",
        4 => "ILL",
        5 => "TRAP",
        6 => "ABRT",
        7 => "BUS",
        8 => "FPE",
        SIGKILL => "KILL",
        11 => "SEGV",
        13 => "PIPE",
        14 => "ALRM",
        15 => "TERM",
        _ => return signal.to_string(),
    };
    format!("{signal} ({name})")
}
