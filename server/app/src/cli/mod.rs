//! The command line: the arguments of each subcommand, one file each.

mod at;
mod compile;
mod export;
mod import;
mod keys;
mod login;
mod logs;
mod of_run;
mod run;
mod runs;
mod schema;
mod serve;
mod sizing;
mod template;
mod token;
mod user;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::Flags;
use crate::show::Output;

pub use at::At;
pub use compile::{Compile, Target};
pub use export::Export;
pub use import::{CubeStudio, Import};
pub use keys::KeysCommand;
pub use login::{ContextCommand, Login, Logout, Open};
pub use logs::Logs;
pub use of_run::{Answer, Decide, Following, Mark, MarkedAs, OfRun, Rerun, Watch};
pub use run::{Parameters, Run};
pub use runs::{Runs, RunsCommand};
pub use schema::SchemaKind;
pub use serve::Serve;
pub use sizing::{Replay, Sizing};
pub use template::Template;
pub use token::{TokenCommand, TokenCreate};
pub use user::{Place, UserAdd, UserCommand};

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  the run or the check failed
  2  invalid arguments or document
  3  the run was cancelled
  4  error of the data folder, the database or this machine
  5  detached by a signal; the run continues

RUN is a run id, its beginning or end, or `latest`.";

/// Run machine-learning pipelines on this machine, Kubernetes and Slurm
#[derive(Debug, Parser)]
#[command(name = "cubeloom", version, about, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Global options.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Data folder [default: /var/lib/cubeloom as root, else ~/.local/share/cubeloom]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// Configuration file [default: cubeloom.toml in the data folder, else /etc/cubeloom/cubeloom.toml]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Task template folder [default: next to the program]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub templates: Option<PathBuf>,
    /// Output format
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,
}

impl Global {
    /// The options that override the configuration.
    pub fn flags(&self) -> Flags {
        Flags { config: self.config.clone(), data: self.data.clone(), templates: self.templates.clone() }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a pipeline
    Run(Run),
    /// Start the server: engine, REST API and web UI
    ///
    /// The first TERM or Ctrl-C drains the server: it saves its state and exits. The second stops it
    /// immediately. Jobs continue.
    Serve(Serve),
    /// Print the jobs that a pipeline would submit
    Compile(Compile),
    /// Validate a pipeline and list its problems
    Validate {
        /// Pipeline file (YAML or JSON)
        file: PathBuf,
        #[command(flatten)]
        at: At,
    },
    /// Convert files of another platform to Cubeloom documents
    #[command(subcommand)]
    Import(Import),
    /// Export a pipeline to the format of another platform
    #[command(subcommand)]
    Export(Export),
    /// Check what this machine supports and what is missing
    Check,
    /// Run benchmarks and compare them with their baselines
    Bench(crate::bench::BenchArgs),
    /// Print a JSON Schema or the OpenAPI document
    Schema {
        /// Schema to print
        kind: SchemaKind,
    },
    /// Manage task templates
    #[command(subcommand)]
    Template(Template),
    /// Evaluate right-sizing rules on traces
    #[command(subcommand)]
    Sizing(Sizing),
    /// List runs, or show a run
    Runs(Runs),
    /// Print the logs of a run
    Logs(Logs),
    /// Follow a run to its end
    Watch(Watch),
    /// Cancel a run
    Cancel(OfRun),
    /// Resume a finished run: rerun failed and unreached tasks
    Resume(OfRun),
    /// Rerun tasks of a finished run and all downstream tasks
    Rerun(Rerun),
    /// Approve or reject a task that waits for approval
    Decide(Decide),
    /// Set the outcome of a task, so that its run goes on
    Mark(Mark),
    /// Copy files between this machine, web servers, S3, COS, OSS and HDFS
    Transfer(cubeloom_storage::transfer::Args),
    /// Open a page of the server in the browser
    Open(Open),
    /// Sign in to a server, and use it from now on
    Login(Login),
    /// Sign out of a server
    Logout(Logout),
    /// Manage the servers that you are signed in to
    #[command(subcommand)]
    Context(ContextCommand),
    /// Manage users and one-time links
    #[command(subcommand)]
    User(UserCommand),
    /// Manage API tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Manage the encryption keys of secrets
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Print the effective settings and their sources
    Config,
    /// Print a shell completion script
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}
