//! Arguments of `cubeloom export`.

use std::path::PathBuf;

use clap::Subcommand;

/// `export`
#[derive(Debug, Subcommand)]
pub enum Export {
    /// Export a pipeline as an Argo Workflow
    Argo {
        /// Pipeline file (YAML or JSON)
        file: PathBuf,
        /// Output file [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}
