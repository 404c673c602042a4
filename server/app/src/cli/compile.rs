//! What `cubeloom compile` is called with.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Parameters;

/// `compile`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cubeloom compile examples/hello/pipeline.yaml --for local\n  \
cubeloom compile examples/hello/pipeline.yaml --for kubernetes --facts cluster.yaml\n  \
cubeloom compile examples/hello/pipeline.yaml --for slurm --facts cluster.yaml --write\n\n\
Without --facts a cluster that has everything is assumed. docs/kubernetes.md and docs/slurm.md have the form of the file.")]
pub struct Compile {
    /// The pipeline, YAML or JSON
    pub file: PathBuf,
    /// For which kind of cluster
    #[arg(long = "for", value_enum, default_value_t)]
    pub target: Target,
    /// What the Kubernetes or Slurm cluster has, YAML or JSON
    #[arg(long, value_name = "FILE")]
    pub facts: Option<PathBuf>,
    /// For Slurm: write what the scripts need where the facts say, and print what to submit
    #[arg(long)]
    pub write: bool,
    #[command(flatten)]
    pub parameters: Parameters,
}

/// A kind of cluster.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Target {
    /// Processes on this machine.
    #[default]
    Local,
    /// Objects of a Kubernetes cluster.
    Kubernetes,
    /// Scripts for a Slurm cluster.
    Slurm,
}
