//! How the program ends: exit codes, and errors that decide them.

use std::process::ExitCode;

use cubeloom_storage::snapshot::SnapshotError;
use cubeloom_web::error::{ApiError, Kind};
use thiserror::Error;

/// What the exit code says. docs/cli.md and `--help` list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// What was asked for is done.
    Ok = 0,
    /// The run failed, or a check did.
    Failed = 1,
    /// The call or the document is not valid.
    Invalid = 2,
    /// The run was cancelled.
    Cancelled = 3,
    /// The data folder, the database or this machine does not allow it.
    Environment = 4,
    /// The program was told to leave; the run goes on.
    Interrupted = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The call or a document is wrong: a sentence that says what to do. Ends with [`Exit::Invalid`].
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    /// As an error.
    pub fn error(message: impl Into<String>) -> anyhow::Error {
        Self(message.into()).into()
    }
}

/// A refusal of the web's functions, as an error of a command.
pub fn refused(error: ApiError) -> anyhow::Error {
    match error.kind() {
        Kind::Internal | Kind::Unavailable => {
            let cause = error.chain().unwrap_or_else(|| error.detail().to_owned());
            anyhow::anyhow!(cause)
        }
        _ => Invalid::error(error.detail()),
    }
}

/// Which code an error ends with.
pub fn of_error(error: &anyhow::Error) -> Exit {
    let said = error.downcast_ref::<Invalid>().is_some();
    let folder = error.downcast_ref::<SnapshotError>().is_some_and(SnapshotError::is_owners);
    if said || folder { Exit::Invalid } else { Exit::Environment }
}

/// The sentence, and what it came from where that says more.
pub fn sentence(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str("\n  because: ");
            text.push_str(&cause);
        }
    }
    text
}
