//! Arguments of `cubeloom serve`.

use std::path::PathBuf;

use clap::Args;

/// `cubeloom serve`
#[derive(Debug, Args)]
pub struct Serve {
    /// Start this pipeline when the server is ready, and show its progress and results
    #[arg(long, value_name = "FILE")]
    pub run: Option<PathBuf>,
    /// Exit when that run ends, with its exit code
    #[arg(long, requires = "run")]
    pub once: bool,
}
