//! Arguments of `cubeloom login`, `logout` and `context`.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;

use crate::remote::complete;

const EXAMPLES: &str = "\
Examples:
  cubeloom login https://cubeloom.example.com
  cubeloom login https://cubeloom.example.com --project vision --context work
  echo \"$TOKEN\" | cubeloom login https://cubeloom.example.com --token-stdin

Opens a page of the server, on which you allow this command line to act as you. Programs need no
login: they set CUBELOOM_URL, CUBELOOM_TOKEN and CUBELOOM_PROJECT.";

/// `login`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Login {
    /// URL of the server
    pub server: String,
    /// Default project of the context
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Name of the context [default: the server's host name]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// Read an API token from standard input instead of opening a page
    #[arg(long)]
    pub token_stdin: bool,
    /// Print the page's URL, but do not open a browser
    #[arg(long, conflicts_with = "token_stdin")]
    pub no_browser: bool,
}

/// `logout`
#[derive(Debug, Args)]
pub struct Logout {
    /// Context [default: the current one]
    #[arg(add = ArgValueCompleter::new(complete::names_of_contexts))]
    pub context: Option<String>,
}

/// `context`
#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// List the contexts
    List,
    /// Use a context from now on
    Use {
        /// Context
        #[arg(add = ArgValueCompleter::new(complete::names_of_contexts))]
        name: String,
        /// Change its default project
        #[arg(long, value_name = "NAME")]
        project: Option<String>,
    },
    /// Use this machine's data folder from now on
    Unset,
}

/// `open`
#[derive(Debug, Args)]
pub struct Open {
    /// Run id, its beginning or end, or `latest` [default: the home page]
    #[arg(add = ArgValueCompleter::new(complete::runs))]
    pub run: Option<String>,
    /// Open a task of the run
    #[arg(requires = "run", add = ArgValueCompleter::new(complete::tasks))]
    pub task: Option<String>,
    /// Open the page of a pipeline
    #[arg(long, value_name = "NAME", conflicts_with = "run", add = ArgValueCompleter::new(complete::pipelines))]
    pub pipeline: Option<String>,
    /// Print the URL, but do not open a browser
    #[arg(long)]
    pub print: bool,
    #[command(flatten)]
    pub at: super::At,
}
