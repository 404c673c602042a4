//! Why a folder cannot be copied.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum SnapshotError {
    /// It exceeds the size limit.
    #[error(
        "the folder {} is copied with the run, but has more than {} MiB or {files} files: keep only code in it, and fetch data with the template `transfer`",
        folder.display(), bytes >> 20
    )]
    TooLarge {
        folder: PathBuf,
        /// Maximum number of bytes.
        bytes: u64,
        /// Maximum number of files.
        files: usize,
    },
    /// A symlink leads out of it.
    #[error(
        "{} is a link to {}, outside the pipeline's folder {}: copy the file, or fetch it with the template `transfer`",
        link.display(), target.display(), folder.display()
    )]
    Leaves {
        link: PathBuf,
        /// The link's target.
        target: PathBuf,
        folder: PathBuf,
    },
    /// It is nested too deeply.
    #[error("{} is nested too deeply: check for a link to a parent folder", .0.display())]
    TooDeep(PathBuf),
    /// The pipeline's file has no parent folder.
    #[error("{} is not in a folder", .0.display())]
    NoFolder(PathBuf),
    /// A file in it is unreadable.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The copy cannot be written.
    #[error("the copy {} cannot be created", place.display())]
    Unwritable {
        /// The path of the copy.
        place: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl SnapshotError {
    /// Whether the folder itself is invalid: its owner can fix that.
    #[must_use]
    pub fn is_owners(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::Leaves { .. } | Self::TooDeep(_) | Self::NoFolder(_))
    }

    pub(super) fn unreadable(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Unreadable { path, source }
    }
}
