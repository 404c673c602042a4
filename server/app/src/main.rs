//! The `cubeloom` program: configuration, life cycle, and one file per command.

// The environment is read here, and passed to everything else.
#![allow(clippy::disallowed_methods)]

mod announce;
mod audit;
mod bench;
mod cli;
mod clock;
mod clusters;
mod commands;
mod config;
mod connections;
mod counting;
mod exit;
mod follow;
mod lock;
mod machine;
mod memory;
mod metrics;
mod paths;
mod planning;
mod platform;
mod problems;
mod progress;
mod remote;
mod sealing;
mod show;
mod submit;
mod telemetry;
mod templates;
mod wake;
mod web;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use clap_complete::env::CompleteEnv;
use cubeloom_executor_local::failpoint;

use crate::cli::{Cli, Command};
use crate::config::Config;
use crate::exit::Exit;
use crate::telemetry::Level;

fn main() -> ExitCode {
    failpoint::install();
    if std::env::args_os().nth(1).is_some_and(|word| word == cubeloom_executor_local::SHIM_ARG) {
        return ExitCode::from(u8::try_from(cubeloom_executor_local::shim_main()).unwrap_or(u8::MAX));
    }
    if let Some(code) = of_slurm() {
        return code;
    }
    CompleteEnv::with_factory(Cli::command).var(commands::COMPLETE).complete();
    let cli = Cli::parse();
    // A transfer is a worker's program, with its own runtime and exit codes.
    if let Command::Transfer(args) = &cli.command {
        return cubeloom_storage::transfer::run(args, &commands::transfer_environment());
    }
    // With `--run` a user sits at the terminal.
    let server = matches!(&cli.command, Command::Serve(args) if args.run.is_none());
    let level = if server { Level::Server } else { Level::Quiet };
    let exit = dispatch(cli, level).unwrap_or_else(|error| {
        show::note(format!("cubeloom: {}", exit::sentence(&error)));
        exit::of_error(&error)
    });
    exit.into()
}

/// The entry point of a Slurm job's script: a worker, which becomes a shim.
fn of_slurm() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let word = args.next()?;
    let variable = |name: &str| std::env::var(name).ok();
    let code = cubeloom_executor_slurm::enter(word.to_str()?, args, variable)?;
    Some(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)))
}

fn dispatch(cli: Cli, level: Level) -> anyhow::Result<Exit> {
    let output = cli.global.output;
    if let Some(exit) = remote::dispatch(&cli.command, &cli.global) {
        return exit;
    }
    match cli.command {
        Command::Completions { shell } => return commands::completions(shell),
        Command::Schema { kind } => return commands::schema(kind),
        Command::Sizing(command) => return commands::sizing(&command, output),
        _ => {}
    }
    let config = Config::load(&cli.global.flags(), std::env::vars_os())?;
    // Dropped after the runtime, so that the last spans are exported, too.
    let _telemetry = telemetry::start(level, config.settings.telemetry.otlp_endpoint.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let exit = runtime.block_on(commands::run(cli.command, config, output));
    // Threads blocked on reads of a log or a pipe are not worth waiting for.
    runtime.shutdown_background();
    exit
}
