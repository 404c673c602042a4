//! Arguments of `cubeloom logs`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::At;
use crate::remote::complete;

/// `logs`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cubeloom logs latest\n  cubeloom logs latest train --worker worker-1 --follow"
)]
pub struct Logs {
    /// Run id, its beginning or end, or `latest`
    #[arg(add = ArgValueCompleter::new(complete::runs))]
    pub run: String,
    /// Task [default: all]
    #[arg(add = ArgValueCompleter::new(complete::tasks))]
    pub task: Option<String>,
    /// Instance of a `for_each` task, from 0 [default: all]
    #[arg(long, value_name = "N", requires = "task")]
    pub instance: Option<u32>,
    /// Attempt, from 1 [default: the latest]
    #[arg(long, value_name = "N", requires = "task")]
    pub attempt: Option<u32>,
    /// Worker, e.g. worker-0 [default: all]
    #[arg(long, value_name = "WORKER")]
    pub worker: Option<String>,
    /// Follow the logs until the run ends
    #[arg(long, short)]
    pub follow: bool,
    /// Print only the last N lines of each log
    #[arg(long, value_name = "N")]
    pub tail: Option<usize>,
    /// Print only standard output
    #[arg(long, conflicts_with = "stderr")]
    pub stdout: bool,
    /// Print only standard error
    #[arg(long)]
    pub stderr: bool,
    #[command(flatten)]
    pub at: At,
}
