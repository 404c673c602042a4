//! Jobs on a Slurm cluster, as far as they run by themselves: what lies ready in an attempt's folder before its script is
//! submitted ([`submission`]), and what the script starts on the nodes ([`enter`]).
//!
//! A worker's folder is written by the same shim as on this machine, so that whoever reads one can read the other.

mod error;
mod fill;
mod places;
pub mod submission;
mod verdict;
mod worker;

use std::ffi::OsString;

pub use error::SlurmError;

/// The word on the command line by which the program becomes one worker: `__slurm-worker FOLDER FIRST_RANK`.
pub const WORKER_ARG: &str = "__slurm-worker";
/// The word by which it says how an attempt ended: `__slurm-verdict FOLDER`.
pub const VERDICT_ARG: &str = "__slurm-verdict";

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
        _ => return None,
    };
    Some(done.unwrap_or_else(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        say(&format!("{error}{cause}"));
        CODE_REFUSED
    }))
}

/// Says something in the job's log.
fn say(sentence: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "cubeloom: {sentence}");
}
