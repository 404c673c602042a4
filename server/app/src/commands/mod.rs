//! The subcommands, one file each.

mod await_run;
mod cancel;
mod check;
mod compile;
mod completions;
mod config;
mod decide;
mod export;
mod import;
mod keys;
mod logs;
mod mark;
mod open;
mod rerun;
mod run;
mod runs;
mod schema;
mod serve;
mod sizing;
mod template;
mod token;
mod transfer;
mod user;
mod validate;
mod watch;

pub use await_run::conclude;
pub use completions::{VARIABLE as COMPLETE, completions};
pub use logs::Headings;
pub use run::announce;
pub use runs::{Listed, runs_table};
pub use schema::schema;
pub use sizing::sizing;
pub use transfer::environment as transfer_environment;

use crate::cli::Command;
use crate::config::Config;
use crate::exit::Exit;
use crate::show::Output;

/// Runs a command that needs the configuration.
pub async fn run(command: Command, config: Config, output: Output) -> anyhow::Result<Exit> {
    match command {
        Command::Run(args) => run::run(args, config, output).await,
        Command::Serve(args) => serve::serve(args, config, output).await,
        Command::Compile(args) => compile::compile(&args, &config, output).await,
        Command::Validate { file, .. } => validate::validate(&file, &config, output).await,
        Command::Import(command) => import::import(&command, config, output).await,
        Command::Export(command) => export::export(&command, &config, output).await,
        Command::Check => check::check(&config, output).await,
        Command::Template(command) => template::template(command, config, output).await,
        Command::Runs(args) => runs::runs(args, config, output).await,
        Command::Logs(args) => logs::logs(args, config).await,
        Command::Watch(args) => watch::watch(&args, config, output).await,
        Command::Open(args) => open::open(&args, config).await,
        Command::Cancel(args) => cancel::cancel(&args, config, output).await,
        Command::Resume(args) => rerun::resume(&args, config, output).await,
        Command::Rerun(args) => rerun::rerun(&args, config, output).await,
        Command::Decide(args) => decide::decide(args, config, output).await,
        Command::Mark(args) => mark::mark(args, config, output).await,
        Command::User(command) => user::user(command, config, output).await,
        Command::Token(command) => token::token(command, config, output).await,
        Command::Keys(command) => keys::keys(command, config, output).await,
        Command::Bench(args) => crate::bench::bench(args).await.map(|()| Exit::Ok),
        Command::Config => config::config(&config, output),
        // Handled before the configuration is read.
        Command::Schema { kind } => schema(kind),
        Command::Sizing(command) => sizing(&command, output),
        Command::Completions { shell } => completions(shell),
        Command::Transfer(_) | Command::Login(_) | Command::Logout(_) | Command::Context(_) => Ok(Exit::Ok),
    }
}
