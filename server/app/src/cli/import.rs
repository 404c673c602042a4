//! What `cubeloom import` is called with.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `import`
#[derive(Debug, Subcommand)]
pub enum Import {
    /// Pipelines and job templates of Cube Studio
    CubeStudio(CubeStudio),
}

/// `import cube-studio`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cubeloom import cube-studio init-pipeline.json --templates init-job-template.json -o imported\n\n\
Without -o the documents are printed, with `---` between them. What could not be carried over as it was is told on\nstandard error."
)]
pub struct CubeStudio {
    /// The pipelines, or job templates, JSON
    pub file: PathBuf,
    /// The job templates that the pipelines use, JSON
    #[arg(long, value_name = "FILE")]
    pub templates: Option<PathBuf>,
    /// What the pipeline is to be called, when the file has one
    #[arg(long)]
    pub name: Option<String>,
    /// A folder for the documents
    #[arg(short, long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Install the job templates for every project, where their names are free
    #[arg(long)]
    pub install: bool,
}
