//! Arguments of `cubeloom import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `import`
#[derive(Debug, Subcommand)]
pub enum Import {
    /// Convert pipelines and job templates of Cube Studio
    CubeStudio(CubeStudio),
}

/// `import cube-studio`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cubeloom import cube-studio init-pipeline.json \
--templates init-job-template.json -o imported\n\n\
Without -o, the documents are printed with `---` between them.\n\
Changes and unsupported settings are listed on standard error.")]
pub struct CubeStudio {
    /// JSON file with pipelines or job templates
    pub file: PathBuf,
    /// JSON file with the job templates that the pipelines use
    #[arg(long, value_name = "FILE")]
    pub templates: Option<PathBuf>,
    /// Name for the pipeline, if the file contains exactly one
    #[arg(long)]
    pub name: Option<String>,
    /// Output folder [default: standard output]
    #[arg(short, long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Install the job templates for all projects, except those whose names are taken
    #[arg(long)]
    pub install: bool,
}
