//! Errors outside of jobs; a job's own failures are outcomes.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why the executor cannot run on this machine.
#[derive(Debug, Error)]
pub enum LocalError {
    /// A folder cannot be created.
    #[error("the folder {} cannot be created; check that the data folder exists, is writable and has free space", path.display())]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Workers cannot reach the data folder.
    #[error(
        "workers run as uid {uid} and cannot enter {}, a parent of the data folder; run `chmod o+x {}` or choose another data folder with --data",
        path.display(), path.display()
    )]
    NotTraversable {
        /// The folder that denies access.
        path: PathBuf,
        /// The workers' uid.
        uid: u32,
    },
    /// A file of the executor cannot be accessed.
    #[error("the file {} cannot be used", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// No loopback addresses are left.
    #[error("all blocks of loopback addresses are taken by other servers on this machine")]
    NoAddresses,
}

impl LocalError {
    /// The error and its reason, in one sentence.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Folder { source, .. } | Self::File { source, .. } => format!("{self}: {}", reason(source)),
            Self::NotTraversable { .. } | Self::NoAddresses => self.to_string(),
        }
    }

    /// For `map_err`.
    pub(crate) fn folder(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Folder { path, source }
    }

    /// For `map_err`.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

/// A system error as the end of a sentence, with plain words for common reasons.
pub fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => "the disk is full".into(),
        Some(libc::EROFS) => "the file system is read-only".into(),
        Some(libc::EACCES | libc::EPERM) => "permission denied".into(),
        Some(libc::EMFILE | libc::ENFILE) => "too many open files; raise the limit with `ulimit -n`".into(),
        Some(libc::EAGAIN) => "the system allows no more processes".into(),
        _ => error.to_string(),
    }
}
