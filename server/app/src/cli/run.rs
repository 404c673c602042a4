//! Arguments of `cubeloom run`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::{At, Following};
use crate::remote::complete;

const RUN_EXAMPLES: &str = "\
Examples:
  cubeloom run examples/hello/pipeline.yaml --watch
  cubeloom run train.yaml -p date=2026-01-31 -p 'sizes=[1, 2, 3]'

The folder of the pipeline file is copied with the run. Without a server this command runs the
pipeline itself. Ctrl-C cancels the run and waits for its end. A second Ctrl-C detaches; jobs
continue.";

/// `run`
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct Run {
    /// Pipeline file (YAML or JSON)
    pub file: PathBuf,
    #[command(flatten)]
    pub parameters: Parameters,
    /// Run this task and all downstream tasks; reuse upstream results of an earlier run
    #[arg(long, value_name = "TASK")]
    pub from: Option<String>,
    /// Run only this task; reuse upstream results of an earlier run
    #[arg(long, value_name = "TASK", conflicts_with = "from")]
    pub only: Option<String>,
    /// Run whose results are reused: its id, beginning or end, or `latest` [default: the newest usable run]
    #[arg(long, value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    pub of: Option<String>,
    #[command(flatten)]
    pub follow: Following,
    #[command(flatten)]
    pub at: At,
}

/// The parameters of a run.
#[derive(Clone, Debug, Default, Args)]
pub struct Parameters {
    /// Parameter; lists and mappings as JSON; can be repeated
    #[arg(short = 'p', long = "param", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub values: Vec<(String, String)>,
    /// JSON or TOML file with parameters; -p overrides it
    #[arg(long, value_name = "FILE")]
    pub params_file: Option<PathBuf>,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("write NAME=VALUE".into()),
    }
}
