//! What `cubeloom export` is called with.

use std::path::PathBuf;

use clap::Subcommand;

/// `export`
#[derive(Debug, Subcommand)]
pub enum Export {
    /// An Argo Workflow
    Argo {
        /// The pipeline, YAML or JSON
        file: PathBuf,
        /// Where to write it, instead of printing it
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}
