//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use cubeloom_domain::Span;
use cubeloom_domain::identity::{Role, Scope};
use cubeloom_domain::state::RunState;

use crate::config::Flags;
use crate::show::Output;

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
    /// Copy files between this machine, web servers, S3, COS and HDFS
    Transfer(cubeloom_storage::transfer::Args),
    /// Accounts of people, and one-time links for them
    #[command(subcommand)]
    User(UserCommand),
    /// Tokens with which programs use the API
    #[command(subcommand)]
    Token(TokenCommand),
    /// Print the settings in force, and where each comes from
    Config,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// `cubeloom serve`
#[derive(Debug, Args)]
pub struct Serve {
    /// Start this pipeline once the server is ready, and show its progress and its results here
    #[arg(long, value_name = "FILE")]
    pub run: Option<PathBuf>,
    /// End when that run has ended, with its exit code
    #[arg(long, requires = "run")]
    pub once: bool,
}

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

/// `compile`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cubeloom compile examples/hello/pipeline.yaml --for local\n  \
cubeloom compile examples/hello/pipeline.yaml --for kubernetes --facts cluster.yaml\n\n\
Without --facts a Kubernetes cluster with every operator is assumed. docs/kubernetes.md has the form of the file.")]
pub struct Compile {
    /// The pipeline, YAML or JSON
    pub file: PathBuf,
    /// For which kind of cluster
    #[arg(long = "for", value_enum, default_value_t)]
    pub target: Target,
    /// What the Kubernetes cluster has, YAML or JSON
    #[arg(long, value_name = "FILE")]
    pub facts: Option<PathBuf>,
    #[command(flatten)]
    pub parameters: Parameters,
}

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

/// `export`
#[derive(Debug, Subcommand)]
pub enum Export {
    /// An Argo Workflow
    Argo {
        /// The pipeline, YAML or JSON
        file: PathBuf,
        /// Where to write it, instead of printing it
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// A kind of cluster.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Target {
    /// Processes on this machine.
    #[default]
    Local,
    /// Objects of a Kubernetes cluster.
    Kubernetes,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SchemaKind {
    /// Pipeline documents.
    Pipeline,
    /// Task templates.
    Template,
    /// The REST API (OpenAPI 3.1).
    Openapi,
}

/// `template`
#[derive(Debug, Subcommand)]
pub enum Template {
    /// Say everything that is wrong with templates
    Check {
        /// Folders of templates, or of one [default: the folder in use]
        paths: Vec<PathBuf>,
    },
    /// Install templates that are documents by themselves, for every project
    Install {
        /// Documents, YAML or JSON
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// List the templates
    List,
    /// Show one template: its help, its arguments, its roles
    Show {
        /// Its name, or `name@version`
        name: String,
    },
}

/// `runs`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Runs {
    #[command(subcommand)]
    pub show: Option<RunsCommand>,
    /// Only runs in this state; may be given several times
    #[arg(long, value_parser = run_state, value_name = "STATE")]
    pub state: Vec<RunState>,
    /// Only runs of this pipeline
    #[arg(long, value_name = "NAME")]
    pub pipeline: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}

/// `runs show`
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Show one run: its tasks, its results
    Show {
        /// The run
        run: String,
    },
}

fn run_state(text: &str) -> Result<RunState, String> {
    let all = [
        RunState::Queued,
        RunState::Running,
        RunState::Cancelling,
        RunState::Succeeded,
        RunState::Failed,
        RunState::Cancelled,
    ];
    let names = all.map(RunState::as_str).join(", ");
    all.into_iter().find(|state| state.as_str() == text).ok_or_else(|| format!("a state is one of {names}"))
}

/// `logs`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cubeloom logs latest\n  cubeloom logs latest train --worker worker-1 --follow"
)]
pub struct Logs {
    /// The run
    pub run: String,
    /// Only this task's
    pub task: Option<String>,
    /// Only this instance's of a `for_each` task
    #[arg(long, value_name = "N", requires = "task")]
    pub instance: Option<u32>,
    /// This attempt's [default: the latest]
    #[arg(long, value_name = "N", requires = "task")]
    pub attempt: Option<u32>,
    /// Only this worker's, e.g. worker-0
    #[arg(long, value_name = "WORKER")]
    pub worker: Option<String>,
    /// Go on until the run has ended
    #[arg(long, short)]
    pub follow: bool,
    /// Only the last N lines of each worker
    #[arg(long, value_name = "N")]
    pub tail: Option<usize>,
    /// Only standard output
    #[arg(long, conflicts_with = "stderr")]
    pub stdout: bool,
    /// Only standard error
    #[arg(long)]
    pub stderr: bool,
}

/// A command about a run.
#[derive(Debug, Args)]
pub struct OfRun {
    /// The run
    pub run: String,
    #[command(flatten)]
    pub follow: Following,
}

/// Whether somebody waits for a run.
#[derive(Clone, Copy, Debug, Args)]
pub struct Following {
    /// Show progress, and a table at the end
    #[arg(long)]
    pub watch: bool,
    /// Leave it to the server, and return at once
    #[arg(long, conflicts_with = "watch")]
    pub detach: bool,
}

/// `rerun`
#[derive(Debug, Args)]
pub struct Rerun {
    /// The run
    pub run: String,
    /// A task to begin with; may be given several times
    #[arg(long, value_name = "TASK", required = true)]
    pub from: Vec<String>,
    #[command(flatten)]
    pub follow: Following,
}

/// `user`
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Make an account
    ///
    /// Without a password it prints a one-time link with which the person sets one.
    Add(UserAdd),
    /// List the accounts
    List,
    /// Print a one-time link with which somebody sets a new password
    Link {
        /// Who
        name: String,
    },
    /// Print a one-time link with which somebody makes an account
    Invite {
        /// They will administer the platform
        #[arg(long)]
        admin: bool,
        #[command(flatten)]
        place: Place,
        /// Whom it is for
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
}

/// `user add`
#[derive(Debug, Args)]
pub struct UserAdd {
    /// What they sign in with
    pub name: String,
    /// What they are called [default: the name]
    #[arg(long, value_name = "TEXT")]
    pub display_name: Option<String>,
    /// Where they can be reached
    #[arg(long, value_name = "ADDRESS")]
    pub email: Option<String>,
    /// They administer the platform
    #[arg(long)]
    pub admin: bool,
    /// Read the password from the standard input
    #[arg(long)]
    pub password_stdin: bool,
    #[command(flatten)]
    pub place: Place,
}

/// A place in a project.
#[derive(Debug, Args)]
pub struct Place {
    /// They become a member of this project
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// What they may do there [default: editor]
    #[arg(long, value_enum, requires = "project")]
    pub role: Option<RoleWord>,
}

/// What a member may do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleWord {
    /// Look at everything but secrets
    Viewer,
    /// Start runs, change pipelines
    Editor,
    /// Change the project, its members and its secrets
    Owner,
}

impl From<RoleWord> for Role {
    fn from(word: RoleWord) -> Self {
        match word {
            RoleWord::Viewer => Self::Viewer,
            RoleWord::Editor => Self::Editor,
            RoleWord::Owner => Self::Owner,
        }
    }
}

/// `token`
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token, and print it: it is shown only once
    Create(TokenCreate),
    /// List the tokens
    List,
    /// End a token at once
    Revoke {
        /// Its id, the part between `clt_` and the next `_`
        id: String,
    },
}

/// `token create`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cubeloom token create --user ada --name nightly --scope run --expires 30d"
)]
pub struct TokenCreate {
    /// Whose [default: the administrator's, when there is one only]
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "command line")]
    pub name: String,
    /// What it may be used for
    #[arg(long, value_enum, default_value = "write")]
    pub scope: ScopeWord,
    /// Only in this project
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// For how long, e.g. 30d [default: for ever]
    #[arg(long, value_name = "TIME")]
    pub expires: Option<Span>,
}

/// What a token may be used for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ScopeWord {
    /// Only look
    Read,
    /// Look, start and stop runs
    Run,
    /// Everything that its person may do in projects
    Write,
    /// Everything that its person may do
    Admin,
}

impl From<ScopeWord> for Scope {
    fn from(word: ScopeWord) -> Self {
        match word {
            ScopeWord::Read => Self::Read,
            ScopeWord::Run => Self::Run,
            ScopeWord::Write => Self::Write,
            ScopeWord::Admin => Self::Admin,
        }
    }
}
