//! Arguments of commands on a run: `cubeloom cancel`, `resume`, `rerun` and `decide`.

use clap::{Args, ValueEnum};

/// Arguments of a command on a run.
#[derive(Debug, Args)]
pub struct OfRun {
    /// Run id, its beginning or end, or `latest`
    pub run: String,
    #[command(flatten)]
    pub follow: Following,
}

/// Whether the command waits for the run.
#[derive(Clone, Copy, Debug, Args)]
pub struct Following {
    /// Show progress, and a summary at the end
    #[arg(long)]
    pub watch: bool,
    /// Leave the run to the server and return immediately
    #[arg(long, conflicts_with = "watch")]
    pub detach: bool,
}

/// `rerun`
#[derive(Debug, Args)]
pub struct Rerun {
    /// Run id, its beginning or end, or `latest`
    pub run: String,
    /// Task to rerun, with all downstream tasks; can be repeated
    #[arg(long, value_name = "TASK", required = true)]
    pub from: Vec<String>,
    #[command(flatten)]
    pub follow: Following,
}

/// `decide`
#[derive(Debug, Args)]
pub struct Decide {
    /// Run id, its beginning or end, or `latest`
    pub run: String,
    /// Task that waits for approval
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
    pub run: String,
    /// Task
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
