//! Arguments of `cubeloom compile`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Parameters;

/// `compile`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cubeloom compile examples/hello/pipeline.yaml --for local\n  \
cubeloom compile examples/hello/pipeline.yaml --for kubernetes --facts cluster.yaml\n  \
cubeloom compile examples/hello/pipeline.yaml --for slurm --facts cluster.yaml --write\n\n\
Without --facts, a cluster with every feature is assumed.\n\
docs/kubernetes.md and docs/slurm.md describe the format of the file.")]
pub struct Compile {
    /// Pipeline file (YAML or JSON)
    pub file: PathBuf,
    /// Kind of target cluster
    #[arg(long = "for", value_enum, default_value_t)]
    pub target: Target,
    /// Description of the Kubernetes or Slurm cluster (YAML or JSON)
    #[arg(long, value_name = "FILE")]
    pub facts: Option<PathBuf>,
    /// Slurm only: write the job files to the paths in the facts, and print the `sbatch` commands
    #[arg(long)]
    pub write: bool,
    #[command(flatten)]
    pub parameters: Parameters,
}

/// The kinds of target clusters.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Target {
    /// Processes on this machine
    #[default]
    Local,
    /// Kubernetes manifests
    Kubernetes,
    /// Slurm batch scripts
    Slurm,
}
