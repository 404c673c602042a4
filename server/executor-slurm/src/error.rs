//! Errors when writing or reading a job's files. The workers' fate is in their records.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a job cannot begin.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// A file of the attempt cannot be accessed.
    #[error("{} cannot be used", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A file of the attempt has invalid content.
    #[error("{} cannot be read: {why}", path.display())]
    Form {
        path: PathBuf,
        /// The reason, as the end of a sentence.
        why: String,
    },
    /// The program was not started by a job's script.
    #[error("{0}")]
    Call(String),
    /// A file that the job needs could not be copied; the sentence says why.
    #[error("{0}")]
    Copy(String),
}

impl SlurmError {
    /// The error and its cause, in one sentence.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::File { source, .. } => format!("{self}: {}", cubeloom_executor_local::reason(source)),
            _ => self.to_string(),
        }
    }

    /// For `map_err`.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { path: path.into(), source }
    }

    /// For a file with invalid content.
    pub(crate) fn form(path: &Path, why: impl ToString) -> Self {
        Self::Form { path: path.into(), why: why.to_string() }
    }
}
