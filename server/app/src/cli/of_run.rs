//! What commands about a run are called with: `cubeloom cancel`, `resume`, `rerun` and `decide`.

use clap::{Args, ValueEnum};

/// A command about a run.
#[derive(Debug, Args)]
pub struct OfRun {
    /// The run
    pub run: String,
    #[command(flatten)]
    pub follow: Following,
}

/// Whether somebody waits for a run.
#[derive(Clone, Copy, Debug, Args)]
pub struct Following {
    /// Show progress, and a table at the end
    #[arg(long)]
    pub watch: bool,
    /// Leave it to the server, and return at once
    #[arg(long, conflicts_with = "watch")]
    pub detach: bool,
}

/// `rerun`
#[derive(Debug, Args)]
pub struct Rerun {
    /// The run
    pub run: String,
    /// A task to begin with; may be given several times
    #[arg(long, value_name = "TASK", required = true)]
    pub from: Vec<String>,
    #[command(flatten)]
    pub follow: Following,
}

/// `decide`
#[derive(Debug, Args)]
pub struct Decide {
    /// The run
    pub run: String,
    /// The task that waits
    pub task: String,
    /// The answer
    pub answer: Answer,
    /// Why, for those who read it later
    #[arg(long, value_name = "TEXT")]
    pub comment: Option<String>,
    /// The instance, of a task with `for_each`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub instance: u32,
    #[command(flatten)]
    pub follow: Following,
}

/// What somebody decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Answer {
    /// The task ends well
    Yes,
    /// The task fails, unless it says that a no lets the run go on
    No,
}
