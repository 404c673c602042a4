//! Why a folder cannot be copied.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a folder cannot be copied.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// It holds too much.
    #[error(
        "the folder {} is copied with the run and holds more than {} MiB or {files} files: keep the pipeline's file in \
         a folder with its code only, and data elsewhere (the template `transfer` brings it in)",
        folder.display(), bytes >> 20
    )]
    TooLarge {
        /// The folder.
        folder: PathBuf,
        /// How many bytes it may hold.
        bytes: u64,
        /// How many files it may hold.
        files: usize,
    },
    /// A link leads out of it.
    #[error(
        "{} is a link to {}, outside of the pipeline's folder {}: copy the file, or let the pipeline bring it in with \
         the template `transfer`",
        link.display(), target.display(), folder.display()
    )]
    Leaves {
        /// The link.
        link: PathBuf,
        /// Where it leads.
        target: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// It is nested too deeply.
    #[error("{} is nested too deeply: is there a link to a folder above it?", .0.display())]
    TooDeep(PathBuf),
    /// A pipeline's file that lies in no folder.
    #[error("{} lies in no folder", .0.display())]
    NoFolder(PathBuf),
    /// Something in it cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// Path.
        path: PathBuf,
        /// Reason.
        #[source]
        source: io::Error,
    },
    /// The copy cannot be written.
    #[error("the copy {} cannot be made", place.display())]
    Unwritable {
        /// The copy.
        place: PathBuf,
        /// Reason.
        #[source]
        source: io::Error,
    },
}

impl SnapshotError {
    /// Whether the folder itself is not as it must be: its owner can mend that.
    #[must_use]
    pub fn is_owners(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::Leaves { .. } | Self::TooDeep(_) | Self::NoFolder(_))
    }

    pub(super) fn unreadable(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Unreadable { path, source }
    }
}
