//! The command line: what each subcommand is called with, one a file.

mod compile;
mod export;
mod import;
mod keys;
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

pub use compile::{Compile, Target};
pub use export::Export;
pub use import::{CubeStudio, Import};
pub use keys::KeysCommand;
pub use logs::Logs;
pub use of_run::{Answer, Decide, Following, OfRun, Rerun};
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
  0  done; of a run: it succeeded
  1  the run failed, or a check did
  2  the call or a document is not valid
  3  the run was cancelled
  4  the data folder, the database or this machine does not allow it
  5  told to leave while the run goes on

A run is named by its id, by the beginning or end of it, or by `latest`.";

/// Runs pipelines of machine-learning tasks.
#[derive(Debug, Parser)]
#[command(name = "cubeloom", version, about, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The data folder [default: /var/lib/cubeloom as root, else ~/.local/share/cubeloom]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// The configuration [default: cubeloom.toml in the data folder, else /etc/cubeloom/cubeloom.toml]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The folder of the task templates [default: found beside the program]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub templates: Option<PathBuf>,
    /// How results are printed
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORM")]
    pub output: Output,
}

impl Global {
    /// What of it is configuration.
    pub fn flags(&self) -> Flags {
        Flags { config: self.config.clone(), data: self.data.clone(), templates: self.templates.clone() }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a pipeline
    Run(Run),
    /// Run what is asked for, and answer browsers and programs, until told to stop
    ///
    /// The first TERM or Ctrl-C drains: what is known is stored, and jobs go on. The second ends the server at once.
    Serve(Serve),
    /// Print exactly what a pipeline's tasks submit
    Compile(Compile),
    /// Say everything that is wrong with a pipeline
    Validate {
        /// The pipeline, YAML or JSON
        file: PathBuf,
    },
    /// Make documents of another platform's files
    #[command(subcommand)]
    Import(Import),
    /// Write a pipeline as another platform's file
    #[command(subcommand)]
    Export(Export),
    /// Say what this machine offers, and what is missing
    Check,
    /// Measure speed and size, each beside its baseline
    Bench(crate::bench::BenchArgs),
    /// Print a JSON Schema
    Schema {
        /// Of what
        kind: SchemaKind,
    },
    /// Look at task templates
    #[command(subcommand)]
    Template(Template),
    /// Look at how memory and CPU are chosen
    #[command(subcommand)]
    Sizing(Sizing),
    /// List runs, or show one
    Runs(Runs),
    /// Print what the workers of a run wrote
    Logs(Logs),
    /// Stop a run
    Cancel(OfRun),
    /// Run again what failed or was not reached, keeping what succeeded
    Resume(OfRun),
    /// Run tasks of a finished run, and everything after them, again
    Rerun(Rerun),
    /// Answer what a task asks that waits for a person
    Decide(Decide),
    /// Copy files between this machine, web servers, S3, COS, OSS and HDFS
    Transfer(cubeloom_storage::transfer::Args),
    /// Accounts of people, and one-time links for them
    #[command(subcommand)]
    User(UserCommand),
    /// Tokens with which programs use the API
    #[command(subcommand)]
    Token(TokenCommand),
    /// The keys that secrets are encrypted with
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Print the settings in force, and where each comes from
    Config,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}
