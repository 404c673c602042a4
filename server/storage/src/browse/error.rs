//! Why something cannot be looked at or written.

use std::io;

use rustix::io::Errno;
use thiserror::Error;

/// Why not. Each names the path as the person wrote it.
#[derive(Debug, Error)]
pub enum BrowseError {
    /// The path is not one that is read here.
    #[error("the path `{path}` {why}")]
    BadPath {
        /// The path.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no such thing.
    #[error("there is no `{0}` here")]
    NotFound(String),
    /// A file was wanted.
    #[error("`{0}` is a folder, not a file")]
    NotAFile(String),
    /// A folder was wanted.
    #[error("`{0}` is a file, not a folder")]
    NotAFolder(String),
    /// A device, pipe or socket.
    #[error("`{0}` is neither a file nor a folder: it is not opened")]
    Special(String),
    /// A link leads out.
    #[error("`{0}` is, or lies behind, a link that leads out of this folder: it is not followed")]
    Leaves(String),
    /// It already exists.
    #[error("`{0}` is there already")]
    Exists(String),
    /// A folder that is too large to be listed.
    #[error(
        "the folder `{path}` holds more than {most} entries: name a file or a folder in it, or spread them over folders"
    )]
    TooMany {
        /// The path.
        path: String,
        /// How many it may hold.
        most: usize,
    },
    /// The disk is full.
    #[error("the disk that holds `{0}` is full")]
    NoRoom(String),
    /// The server itself may not.
    #[error("the server may not read or change `{0}`")]
    Denied(String),
    /// Anything else of the system's.
    #[error("`{path}` cannot be used")]
    Io {
        /// The path.
        path: String,
        /// Reason.
        #[source]
        source: io::Error,
    },
    /// The object store refuses or does not answer.
    #[error("the object store: {message}")]
    Store {
        /// What it says, with what to check.
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

    /// The same on errors of the standard library.
    pub(super) fn of_io(path: &str) -> impl Fn(io::Error) -> Self + '_ {
        move |error| match error.raw_os_error() {
            Some(code) => Self::of(path)(Errno::from_raw_os_error(code)),
            None => Self::Io { path: path.into(), source: error },
        }
    }
}
