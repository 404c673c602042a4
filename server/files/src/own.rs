//! Files at paths that only the server controls: its data folder without the projects' part, `/proc` and
//! `/sys`, and configured paths.
//!
//! These are the functions of [`std::fs`]. They have their own names so that `clippy.toml` can forbid the
//! originals in all crates that also handle paths controlled by projects. A call of `own::read` states that
//! the path is the server's. For paths that a project can change, use [`Dir`](crate::Dir).

#![allow(clippy::disallowed_methods, reason = "the one place that calls them for paths of the server's own")]
#![allow(clippy::missing_errors_doc, reason = "those of std::fs")]

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions, ReadDir};
use std::io;
use std::path::{Path, PathBuf};

/// [`fs::read`].
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    fs::read(path)
}

/// [`fs::read_to_string`].
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    fs::read_to_string(path)
}

/// [`fs::write`].
pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> io::Result<()> {
    fs::write(path, content)
}

/// [`File::open`].
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    File::open(path)
}

/// [`File::create`].
pub fn create(path: impl AsRef<Path>) -> io::Result<File> {
    File::create(path)
}

/// [`OpenOptions::open`].
pub fn open_with(options: &OpenOptions, path: impl AsRef<Path>) -> io::Result<File> {
    options.open(path)
}

/// [`fs::create_dir`].
pub fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    fs::create_dir(path)
}

/// [`fs::create_dir_all`].
pub fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// [`DirBuilder::create`].
pub fn create_dir_with(builder: &DirBuilder, path: impl AsRef<Path>) -> io::Result<()> {
    builder.create(path)
}

/// [`fs::read_dir`].
pub fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    fs::read_dir(path)
}

/// [`fs::remove_file`].
pub fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    fs::remove_file(path)
}

/// [`fs::remove_dir`].
pub fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    fs::remove_dir(path)
}

/// [`fs::remove_dir_all`], which follows no link below the path: its content may be a project's.
pub fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    fs::remove_dir_all(path)
}

/// [`fs::rename`].
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    fs::rename(from, to)
}

/// [`fs::copy`].
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    fs::copy(from, to)
}

/// [`fs::metadata`].
pub fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    fs::metadata(path)
}

/// [`fs::symlink_metadata`].
pub fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    fs::symlink_metadata(path)
}

/// [`fs::canonicalize`].
pub fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// [`fs::set_permissions`].
pub fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    fs::set_permissions(path, permissions)
}

/// [`std::os::unix::fs::lchown`].
pub fn chown(path: impl AsRef<Path>, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
    std::os::unix::fs::lchown(path, uid, gid)
}
