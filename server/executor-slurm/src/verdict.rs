//! Reports how an attempt ended after all its steps: in the job's log for users, by the exit code for Slurm.

use std::path::Path;

use cubeloom_domain::outcome::Outcome;
use cubeloom_executor_local::alone::outcome;

use crate::worker::read_job;
use crate::{SlurmError, say};

/// `FOLDER`: returns 0 if it succeeded.
pub(crate) fn run(arguments: &[&str]) -> Result<i32, SlurmError> {
    let &[folder] = arguments else {
        return Err(SlurmError::Call(
            "__slurm-verdict needs the attempt's folder as its only argument".into(),
        ));
    };
    let folder = Path::new(folder);
    Ok(match outcome(&read_job(folder)?, folder) {
        Outcome::Succeeded => {
            say("the job succeeded");
            0
        }
        Outcome::Cancelled => {
            say("the job was cancelled");
            1
        }
        Outcome::Failed(failure) => {
            say(&failure.message);
            failure.last_lines.iter().for_each(|line| say(&format!("| {line}")));
            1
        }
    })
}
