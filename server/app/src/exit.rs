//! Exit codes, and the errors that determine them.

use std::process::ExitCode;

use cubeloom_storage::snapshot::SnapshotError;
use cubeloom_web::error::{ApiError, Kind};
use thiserror::Error;

use crate::remote;

/// The exit code. docs/cli.md and `--help` list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command succeeded.
    Ok = 0,
    /// The run failed, or a check did.
    Failed = 1,
    /// The command line or the document is invalid.
    Invalid = 2,
    /// The run was cancelled.
    Cancelled = 3,
    /// The data folder, the database or this machine does not permit it.
    Environment = 4,
    /// The program was interrupted; the run continues.
    Interrupted = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An invalid command line or document, with a message that says what to do. Exits with [`Exit::Invalid`].
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    pub fn error(message: impl Into<String>) -> anyhow::Error {
        Self(message.into()).into()
    }
}

/// Converts an API error to a command's error.
pub fn refused(error: ApiError) -> anyhow::Error {
    match error.kind() {
        Kind::Internal | Kind::Unavailable => {
            let cause = error.chain().unwrap_or_else(|| error.detail().to_owned());
            anyhow::anyhow!(cause)
        }
        _ => Invalid::error(error.detail()),
    }
}

/// The exit code of an error.
pub fn of_error(error: &anyhow::Error) -> Exit {
    let said = error.downcast_ref::<Invalid>().is_some()
        || remote::status(error).is_some_and(|status| status.is_client_error());
    let folder = error.downcast_ref::<SnapshotError>().is_some_and(SnapshotError::is_owners);
    if said || folder { Exit::Invalid } else { Exit::Environment }
}

/// The message, with the cause if it adds information.
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
