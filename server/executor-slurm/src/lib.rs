//! The Slurm executor. It has three parts:
//! - the files in an attempt's folder before its script is submitted ([`submission`])
//! - the node program that the script starts ([`enter`])
//! - the server's adapter ([`SlurmExecutor`])
//!
//! The same shim as on the local machine writes a worker's folder, so the same code can read both. The server
//! only reads there; writes happen as the user's account, by the same program.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make the files that they look at"))]

mod account;
mod attempt;
mod beneath;
mod board;
mod cluster;
mod commands;
mod config;
mod error;
mod executor;
mod fill;
mod folders;
mod full;
mod judge;
mod kept_off;
mod logs;
mod mirror;
mod named;
mod nodes;
mod notices;
mod orders;
mod parcel;
mod places;
mod rest;
mod seen;
mod speech;
pub mod submission;
mod submit;
mod survey;
mod take;
mod uids;
mod verdict;
mod watch;
mod worker;

use std::ffi::OsString;

pub use config::{PeopleOf, SlurmConfig};
pub use error::SlurmError;
pub use executor::SlurmExecutor;
pub use nodes::KIND;

/// Command line argument that makes the program one worker: `__slurm-worker FOLDER FIRST_RANK`.
pub const WORKER_ARG: &str = "__slurm-worker";
/// The argument to report how an attempt ended: `__slurm-verdict FOLDER`.
pub const VERDICT_ARG: &str = "__slurm-verdict";

/// The argument to create, as a user's account, everything that a job's script needs: `__slurm-write`, with
/// the job on standard input.
pub const WRITE_ARG: &str = "__slurm-write";
/// The argument to write stop requests as that account: `__slurm-stop`, with folders and requests on standard
/// input.
pub const STOP_ARG: &str = "__slurm-stop";
/// The argument to remove secrets that only a running job may have: `__slurm-clean`, with folders on standard
/// input.
pub const CLEAN_ARG: &str = "__slurm-clean";

/// Exit code when the program could not begin.
const CODE_REFUSED: i32 = 70;

/// Runs a subcommand for a job's script; `None` if the argument is none of them. `variable` reads the
/// environment. Returns the exit code.
pub fn enter(
    word: &str,
    arguments: impl Iterator<Item = OsString>,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<i32> {
    let arguments: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match word {
        WORKER_ARG => worker::run(&arguments, variable),
        VERDICT_ARG => verdict::run(&arguments),
        WRITE_ARG => account::write(&arguments),
        STOP_ARG => account::stop(&arguments),
        CLEAN_ARG => account::clean(&arguments),
        _ => return None,
    };
    Some(done.unwrap_or_else(|error| {
        say(&error.sentence());
        CODE_REFUSED
    }))
}

/// Prints a message to the job's log.
fn say(sentence: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "cubeloom: {sentence}");
}
