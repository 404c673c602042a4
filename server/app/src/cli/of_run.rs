//! Arguments of commands on a run: `cubeloom watch`, `cancel`, `resume`, `rerun`, `decide` and `mark`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use super::At;
use crate::remote::complete;

/// Arguments of a command on a run.
#[derive(Debug, Args)]
pub struct OfRun {
    /// Run id, its beginning or end, or `latest`
    #[arg(add = ArgValueCompleter::new(complete::runs))]
    pub run: String,
    #[command(flatten)]
    pub follow: Following,
    #[command(flatten)]
    pub at: At,
}

/// Whether the command waits for the run, and what it prints at its end.
#[derive(Clone, Debug, Default, Args)]
pub struct Following {
    /// Show progress, and a summary at the end
    #[arg(long)]
    pub watch: bool,
    /// Print a summary at the end
    #[arg(long, conflicts_with = "watch")]
    pub wait: bool,
    /// Leave the run to the server and return immediately
    #[arg(long, conflicts_with_all = ["watch", "wait", "junit"])]
    pub detach: bool,
    /// Write the tasks to a JUnit file at the end, for CI systems
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// `watch`
#[derive(Debug, Args)]
pub struct Watch {
    /// Run id, its beginning or end, or `latest`
    #[arg(add = ArgValueCompleter::new(complete::runs))]
    pub run: String,
    /// Write the tasks to a JUnit file at the end, for CI systems
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub at: At,
}

/// `rerun`
#[derive(Debug, Args)]
pub struct Rerun {
    /// Run id, its beginning or end, or `latest`
    #[arg(add = ArgValueCompleter::new(complete::runs))]
    pub run: String,
    /// Task to rerun, with all downstream tasks; can be repeated
    #[arg(long, value_name = "TASK", required = true, add = ArgValueCompleter::new(complete::tasks))]
    pub from: Vec<String>,
    #[command(flatten)]
    pub follow: Following,
    #[command(flatten)]
    pub at: At,
}

/// `decide`
#[derive(Debug, Args)]
pub struct Decide {
    /// Run id, its beginning or end, or `latest`
    #[arg(add = ArgValueCompleter::new(complete::runs))]
    pub run: String,
    /// Task that waits for approval
    #[arg(add = ArgValueCompleter::new(complete::tasks))]
    pub task: String,
    /// Decision
    pub answer: Answer,
    /// Reason, stored with the decision
    #[arg(long, value_name = "TEXT")]
    pub comment: Option<String>,
    /// Instance of a `for_each` task
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub instance: u32,
    #[command(flatten)]
    pub follow: Following,
    #[command(flatten)]
    pub at: At,
}

/// The decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Answer {
    /// Approve: the task succeeds
    Yes,
    /// Reject: the task fails, unless its argument `on_rejection` is `go_on`
    No,
}

/// `mark`
#[derive(Debug, Args)]
pub struct Mark {
    /// Run id, its beginning or end, or `latest`
    #[arg(add = ArgValueCompleter::new(complete::runs))]
    pub run: String,
    /// Task
    #[arg(add = ArgValueCompleter::new(complete::tasks))]
    pub task: String,
    /// Outcome that the task counts as
    pub outcome: MarkedAs,
    /// Reason, stored with the task and in the audit log
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// Instance of a `for_each` task
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub instance: u32,
    #[command(flatten)]
    pub follow: Following,
    #[command(flatten)]
    pub at: At,
}

/// The outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MarkedAs {
    /// Downstream tasks go on
    Succeeded,
    /// A running task is stopped
    Failed,
    /// Not needed: downstream tasks follow their trigger rules
    Skipped,
}
