//! What commands about a run are called with: `cubeloom cancel`, `resume` and `rerun`.

use clap::Args;

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
