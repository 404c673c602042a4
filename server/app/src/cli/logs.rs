//! What `cubeloom logs` is called with.

use clap::Args;

/// `logs`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cubeloom logs latest\n  cubeloom logs latest train --worker worker-1 --follow"
)]
pub struct Logs {
    /// The run
    pub run: String,
    /// Only this task's
    pub task: Option<String>,
    /// Only this instance's of a `for_each` task
    #[arg(long, value_name = "N", requires = "task")]
    pub instance: Option<u32>,
    /// This attempt's [default: the latest]
    #[arg(long, value_name = "N", requires = "task")]
    pub attempt: Option<u32>,
    /// Only this worker's, e.g. worker-0
    #[arg(long, value_name = "WORKER")]
    pub worker: Option<String>,
    /// Go on until the run has ended
    #[arg(long, short)]
    pub follow: bool,
    /// Only the last N lines of each worker
    #[arg(long, value_name = "N")]
    pub tail: Option<usize>,
    /// Only standard output
    #[arg(long, conflicts_with = "stderr")]
    pub stdout: bool,
    /// Only standard error
    #[arg(long)]
    pub stderr: bool,
}
