//! What keeps a job's files from being written or read. What happens to its workers is in their records.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a job cannot begin.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// A file of the attempt cannot be used.
    #[error("{} cannot be used", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Reason.
        #[source]
        source: io::Error,
    },
    /// A file of the attempt does not say what it should.
    #[error("{} cannot be read: {why}", path.display())]
    Form {
        /// Which.
        path: PathBuf,
        /// Why, as a sentence's end.
        why: String,
    },
    /// The program was started otherwise than by a job's script.
    #[error("{0}")]
    Call(String),
    /// Something that the job needs could not be copied, as a sentence.
    #[error("{0}")]
    Copy(String),
}

impl SlurmError {
    /// With its cause, in one sentence.
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

    /// For a file whose content is wrong.
    pub(crate) fn form(path: &Path, why: impl ToString) -> Self {
        Self::Form { path: path.into(), why: why.to_string() }
    }
}
