//! Messages of the program itself, on standard error. `RUST_LOG` chooses what is said.

use tracing_subscriber::EnvFilter;

use crate::show::Above;

/// How much is said when `RUST_LOG` is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Warnings and errors: a person reads the results.
    Quiet,
    /// What the server does.
    Server,
}

/// Starts it.
pub fn start(level: Level) {
    let usual = match level {
        Level::Quiet => "warn",
        Level::Server => "info",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| Above)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false);
    let _ = match level {
        Level::Quiet => builder.without_time().try_init(),
        Level::Server => builder.try_init(),
    };
}
