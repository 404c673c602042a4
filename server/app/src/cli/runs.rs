//! Arguments of `cubeloom runs`.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use cubeloom_domain::state::RunState;

use super::At;
use crate::remote::complete;

/// `runs`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Runs {
    #[command(subcommand)]
    pub show: Option<RunsCommand>,
    /// List only runs in this state, such as running or failed; can be repeated
    #[arg(long, value_parser = run_state, value_name = "STATE")]
    pub state: Vec<RunState>,
    /// List only runs of this pipeline
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::pipelines))]
    pub pipeline: Option<String>,
    /// Maximum number of runs
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    #[command(flatten)]
    pub at: At,
}

/// `runs show`
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Show a run with its tasks and results
    Show {
        /// Run id, its beginning or end, or `latest`
        #[arg(add = ArgValueCompleter::new(complete::runs))]
        run: String,
        #[command(flatten)]
        at: At,
    },
}

fn run_state(text: &str) -> Result<RunState, String> {
    let unknown = || format!("a state is one of {}", RunState::ALL.map(RunState::as_str).join(", "));
    RunState::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(unknown)
}
