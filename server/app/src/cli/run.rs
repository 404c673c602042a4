//! What `cubeloom run` is called with.

use std::path::PathBuf;

use clap::Args;

const RUN_EXAMPLES: &str = "\
Examples:
  cubeloom run examples/hello/pipeline.yaml --watch
  cubeloom run train.yaml -p date=2026-01-31 -p 'sizes=[1, 2, 3]'

The folder that the pipeline's file lies in is copied with the run. Where no server has the data folder, this process
runs the pipeline itself; jobs outlive it. Ctrl-C cancels the run and waits for its end; a second one leaves at once.";

/// `run`
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct Run {
    /// The pipeline, YAML or JSON
    pub file: PathBuf,
    #[command(flatten)]
    pub parameters: Parameters,
    /// Run this task and everything after it; what the tasks before left is taken over from an earlier run
    #[arg(long, value_name = "TASK")]
    pub from: Option<String>,
    /// Run this task alone, in the same way
    #[arg(long, value_name = "TASK", conflicts_with = "from")]
    pub only: Option<String>,
    /// The run to take over from: an id, its beginning or end, or `latest` [default: the newest that can be used]
    #[arg(long, value_name = "RUN")]
    pub of: Option<String>,
    /// Show progress, and a table at the end
    #[arg(long)]
    pub watch: bool,
    /// Leave the run to the server, and return at once
    #[arg(long, conflicts_with = "watch")]
    pub detach: bool,
}

/// The parameters of a run.
#[derive(Clone, Debug, Default, Args)]
pub struct Parameters {
    /// A parameter's value; lists and mappings as JSON
    #[arg(short = 'p', long = "param", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub values: Vec<(String, String)>,
    /// Parameters as a JSON or TOML file; -p goes over it
    #[arg(long, value_name = "FILE")]
    pub params_file: Option<PathBuf>,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("write NAME=VALUE".into()),
    }
}
