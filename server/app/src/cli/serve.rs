//! What `cubeloom serve` is called with.

use std::path::PathBuf;

use clap::Args;

/// `cubeloom serve`
#[derive(Debug, Args)]
pub struct Serve {
    /// Start this pipeline once the server is ready, and show its progress and its results here
    #[arg(long, value_name = "FILE")]
    pub run: Option<PathBuf>,
    /// End when that run has ended, with its exit code
    #[arg(long, requires = "run")]
    pub once: bool,
}
