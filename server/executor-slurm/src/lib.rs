//! Jobs on a Slurm cluster: what lies ready in an attempt's folder before its script is submitted ([`submission`]), what the
//! script starts on the nodes ([`enter`]), and the adapter of a server ([`SlurmExecutor`]).
//!
//! A worker's folder is written by the same shim as on this machine, so that whoever reads one can read the other. The server
//! only reads there; what is to be written is written as the person's account, by the same program.

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

/// The word on the command line by which the program becomes one worker: `__slurm-worker FOLDER FIRST_RANK`.
pub const WORKER_ARG: &str = "__slurm-worker";
/// The word by which it says how an attempt ended: `__slurm-verdict FOLDER`.
pub const VERDICT_ARG: &str = "__slurm-verdict";

/// The word by which it makes, as a person's account, all that a job's script needs: `__slurm-write`, the job on standard input.
pub const WRITE_ARG: &str = "__slurm-write";
/// The word by which it leaves a wish to stop as that account: `__slurm-stop`, folders and wishes on standard input.
pub const STOP_ARG: &str = "__slurm-stop";
/// The word by which it removes what only a job that runs may have: `__slurm-clean`, folders on standard input.
pub const CLEAN_ARG: &str = "__slurm-clean";

/// The exit code of what could not begin.
const CODE_REFUSED: i32 = 70;

/// Does what the script of a job wants of this program; `None` when the word is none of its. `variable` reads the
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

/// Says something in the job's log.
fn say(sentence: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "cubeloom: {sentence}");
}
