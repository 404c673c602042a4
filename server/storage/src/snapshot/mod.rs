//! Copies of folders by the SHA-256 of their content: a pipeline's own folder, and the task templates.
//!
//! A run keeps the code that it was started with, and workers under other uids can read the copy. Copies are
//! created under a temporary name and renamed, so an existing one is complete.

mod error;
mod walk;

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cubeloom_domain::failpoint::hit;
use cubeloom_files::own;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

pub use error::SnapshotError;
use walk::walk;
pub use walk::{File, Limits};

/// Counts the copies of this process.
static TURNS: AtomicU64 = AtomicU64::new(0);

/// A folder's files, hashed but not yet copied.
#[derive(Debug)]
pub struct Snapshot {
    entries: Vec<File>,
    /// SHA-256 over names, modes and content, in hexadecimal.
    pub digest: String,
}

impl Snapshot {
    /// Reads a folder. Skips hidden files and generated folders (`target`, `node_modules`, `__pycache__`).
    ///
    /// # Errors
    /// It is too large, has a symlink that leaves it, or is unreadable.
    pub fn take(folder: &Path, limits: Limits) -> Result<Self, SnapshotError> {
        let entries = walk(folder, limits)?;
        let digest = digest(&entries)?;
        Ok(Self { entries, digest })
    }

    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks whether a folder is empty")]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Total size, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }

    /// Copies the files to `<parent>/<digest>`, unless that exists, and returns that folder.
    ///
    /// # Errors
    /// It cannot be written, or the folder has changed meanwhile.
    pub fn keep(&self, parent: &Path) -> Result<PathBuf, SnapshotError> {
        let place = parent.join(&self.digest);
        if place.is_dir() {
            return Ok(place);
        }
        // Unique: two concurrent uploads of the same folder must not write into each other's copy.
        let turn = TURNS.fetch_add(1, Ordering::Relaxed);
        let aside = parent.join(format!(".{}.{}.{turn}", self.digest, std::process::id()));
        let _ = own::remove_dir_all(&aside);
        let copied = self.copy_to(&aside).and_then(|()| {
            hit("storage.snapshot.before");
            match own::rename(&aside, &place) {
                // Another process was faster with the same content.
                Err(_) if place.is_dir() => Ok(()),
                other => other,
            }
        });
        hit("storage.snapshot.after");
        let _ = own::remove_dir_all(&aside);
        match copied {
            Ok(()) => Ok(place),
            Err(source) => Err(SnapshotError::Unwritable { place, source }),
        }
    }

    /// The files as a gzipped tar archive, which `PUT /projects/{project}/code` accepts.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn archive(&self) -> Result<Vec<u8>, SnapshotError> {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for entry in &self.entries {
            let mut add = || {
                let file = own::open(&entry.path)?;
                let mut header = tar::Header::new_gnu();
                header.set_mode(if entry.executable { 0o755 } else { 0o644 });
                // A file that grows meanwhile must not shift the following ones.
                header.set_size(entry.bytes);
                archive.append_data(&mut header, &entry.name, file.take(entry.bytes))
            };
            add().map_err(SnapshotError::unreadable(&entry.path))?;
        }
        let whole = archive.into_inner().and_then(GzEncoder::finish);
        whole.map_err(SnapshotError::unreadable(Path::new("the archive")))
    }

    fn copy_to(&self, target: &Path) -> io::Result<()> {
        let folder = |path: &Path| own::create_dir_with(DirBuilder::new().recursive(true).mode(0o755), path);
        folder(target)?;
        for entry in &self.entries {
            let path = target.join(&entry.name);
            if let Some(parent) = path.parent() {
                folder(parent)?;
            }
            let mode = if entry.executable { 0o755 } else { 0o644 };
            let mut copy = own::open_with(OpenOptions::new().write(true).create_new(true).mode(mode), &path)?;
            io::copy(&mut own::open(&entry.path)?, &mut copy)?;
            copy.flush()?;
        }
        Ok(())
    }
}

/// The files of a copied folder, by name.
pub fn files(copy: &Path) -> Result<Vec<File>, SnapshotError> {
    walk(copy, Limits { bytes: u64::MAX, files: usize::MAX })
}

fn digest(entries: &[File]) -> Result<String, SnapshotError> {
    let mut whole = Sha256::new();
    for entry in entries {
        let name = entry.name.as_os_str().as_encoded_bytes();
        whole.update((name.len() as u64).to_le_bytes());
        whole.update(name);
        whole.update([u8::from(entry.executable)]);
        whole.update(file_digest(&entry.path).map_err(SnapshotError::unreadable(&entry.path))?);
    }
    Ok(hex(&whole.finalize()))
}

fn file_digest(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = own::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().into()),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// SHA-256 of a text, in hexadecimal.
#[must_use]
pub fn text_digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The parent folder of a pipeline's file.
///
/// # Errors
/// The file has no parent folder.
pub fn folder_of(file: &Path) -> Result<PathBuf, SnapshotError> {
    let file = own::canonicalize(file).map_err(SnapshotError::unreadable(file))?;
    file.parent().map(Path::to_path_buf).ok_or(SnapshotError::NoFolder(file))
}

#[cfg(test)]
mod tests;
