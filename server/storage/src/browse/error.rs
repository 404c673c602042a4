//! Errors of reading and writing.

use std::io;

use rustix::io::Errno;
use thiserror::Error;

/// Each error contains the path as the user wrote it.
#[derive(Debug, Error)]
pub enum BrowseError {
    /// The path is invalid.
    #[error("the path `{path}` {why}")]
    BadPath {
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It does not exist.
    #[error("there is no `{0}` here")]
    NotFound(String),
    /// A file was expected.
    #[error("`{0}` is a folder, not a file")]
    NotAFile(String),
    /// A folder was expected.
    #[error("`{0}` is a file, not a folder")]
    NotAFolder(String),
    /// A device, pipe or socket.
    #[error("`{0}` is neither a file nor a folder, and cannot be opened")]
    Special(String),
    /// A symlink leads out of the accessible area.
    #[error("`{0}` is, or is behind, a link that leads out of this folder, and cannot be followed")]
    Leaves(String),
    /// It already exists.
    #[error("`{0}` already exists")]
    Exists(String),
    /// The folder has too many entries to list.
    #[error(
        "the folder `{path}` has more than {most} entries: choose a file or folder in it, or split it into folders"
    )]
    TooMany {
        path: String,
        /// The maximum number of entries.
        most: usize,
    },
    /// The disk is full.
    #[error("the disk of `{0}` is full")]
    NoRoom(String),
    /// The server itself has no permission.
    #[error("the server may not read or change `{0}`")]
    Denied(String),
    /// Any other system error.
    #[error("`{path}` cannot be used")]
    Io {
        path: String,
        #[source]
        source: io::Error,
    },
    /// The object store refuses or is unreachable.
    #[error("the object store: {message}")]
    Store {
        /// Its message, with a hint what to check.
        message: String,
    },
}

impl BrowseError {
    /// For `map_err`, on errors of system calls.
    pub(super) fn of(path: &str) -> impl Fn(Errno) -> Self + '_ {
        move |errno| {
            let path = if path.is_empty() { "this folder" } else { path }.to_owned();
            match errno {
                Errno::NOENT => Self::NotFound(path),
                Errno::XDEV | Errno::LOOP | Errno::AGAIN => Self::Leaves(path),
                Errno::NOTDIR => Self::NotAFolder(path),
                Errno::ISDIR => Self::NotAFile(path),
                Errno::EXIST | Errno::NOTEMPTY => Self::Exists(path),
                Errno::NOSPC | Errno::DQUOT => Self::NoRoom(path),
                Errno::ACCESS | Errno::PERM | Errno::ROFS => Self::Denied(path),
                Errno::NXIO => Self::Special(path),
                other => Self::Io { path, source: other.into() },
            }
        }
    }

    /// The same for errors of the standard library.
    pub(super) fn of_io(path: &str) -> impl Fn(io::Error) -> Self + '_ {
        move |error| match error.raw_os_error() {
            Some(code) => Self::of(path)(Errno::from_raw_os_error(code)),
            None => Self::Io { path: path.into(), source: error },
        }
    }
}
