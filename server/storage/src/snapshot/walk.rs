//! The relevant files of a folder, in a stable order.

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cubeloom_files::own;

use super::SnapshotError;

/// Size limits of a folder.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Total bytes of all files.
    pub bytes: u64,
    /// Number of files.
    pub files: usize,
}

impl Limits {
    /// For a pipeline's folder: code, not data.
    pub const CODE: Self = Self { bytes: 64 << 20, files: 10_000 };
}

/// Skipped at every depth, besides hidden files: generated folders.
const LEFT_OUT: [&str; 3] = ["target", "node_modules", "__pycache__"];

#[derive(Debug)]
pub struct File {
    /// Its name below the folder.
    pub name: PathBuf,
    /// The path of its content.
    pub path: PathBuf,
    /// Size, in bytes.
    pub bytes: u64,
    pub executable: bool,
}

struct Walk<'a> {
    root: &'a Path,
    limits: Limits,
    bytes: u64,
    entries: Vec<File>,
}

/// The files of a folder, by name.
///
/// # Errors
/// There are too many, a symlink leaves the folder, or an entry is unreadable.
pub fn walk(folder: &Path, limits: Limits) -> Result<Vec<File>, SnapshotError> {
    let root = own::canonicalize(folder).map_err(SnapshotError::unreadable(folder))?;
    let mut walk = Walk { root: &root, limits, bytes: 0, entries: Vec::new() };
    walk.folder(&root, Path::new(""), 0)?;
    walk.entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(walk.entries)
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, name: &Path, depth: usize) -> Result<(), SnapshotError> {
        if depth > 64 {
            return Err(SnapshotError::TooDeep(folder.into()));
        }
        let listed = own::read_dir(folder).map_err(SnapshotError::unreadable(folder))?;
        for entry in listed {
            let entry = entry.map_err(SnapshotError::unreadable(folder))?;
            let own = entry.file_name();
            let text = own.to_string_lossy();
            if !text.starts_with('.') && !LEFT_OUT.contains(&text.as_ref()) {
                self.entry(&entry.path(), &name.join(&own), depth)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, name: &Path, depth: usize) -> Result<(), SnapshotError> {
        let real = own::canonicalize(path).map_err(SnapshotError::unreadable(path))?;
        if !real.starts_with(self.root) {
            return Err(SnapshotError::Leaves { link: path.into(), target: real, folder: self.root.into() });
        }
        let metadata = own::metadata(&real).map_err(SnapshotError::unreadable(path))?;
        if metadata.is_dir() {
            return self.folder(&real, name, depth + 1);
        }
        if metadata.is_file() {
            self.file(real, name, &metadata)?;
        }
        Ok(())
    }

    fn file(&mut self, path: PathBuf, name: &Path, metadata: &Metadata) -> Result<(), SnapshotError> {
        self.bytes += metadata.len();
        let executable = metadata.permissions().mode() & 0o111 != 0;
        self.entries.push(File { name: name.into(), path, bytes: metadata.len(), executable });
        if self.bytes > self.limits.bytes || self.entries.len() > self.limits.files {
            let Limits { bytes, files } = self.limits;
            return Err(SnapshotError::TooLarge { folder: self.root.into(), bytes, files });
        }
        Ok(())
    }
}
