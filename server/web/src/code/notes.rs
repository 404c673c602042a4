//! Notes: a small file for each code folder of a project, with its size.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use cubeloom_domain::Timestamp;
use cubeloom_files::own;
use cubeloom_storage::snapshot::files;
use serde::{Deserialize, Serialize};

use super::is_digest;
use crate::error::{ApiError, ApiResult};
use crate::state::{Folders, Web};

/// Content of a note. Notes of older versions are empty.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Noted {
    /// Total size of all files.
    pub(super) bytes: u64,
    pub(super) files: u64,
}

/// Code folder of a project.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) digest: String,
    pub(crate) bytes: u64,
    /// Number of files in the folder.
    pub(crate) files: u64,
    /// Last upload or reference.
    pub(crate) sent_at: Timestamp,
}

/// Folder of a project's notes.
pub(super) fn place(folders: &Folders, project: &str) -> PathBuf {
    folders.data.join("code-of").join(project)
}

/// Lock across processes while folders and notes are added or removed.
pub(super) fn lock(folders: &Folders) -> io::Result<File> {
    let above = folders.data.join("code-of");
    own::create_dir_with(DirBuilder::new().recursive(true).mode(0o700), &above)?;
    let file = own::open_with(OpenOptions::new().create(true).append(true), above.join(".lock"))?;
    file.lock()?;
    Ok(file)
}

/// Writes or replaces a note.
pub(super) fn write(folders: &Folders, project: &str, digest: &str, noted: Noted) -> io::Result<()> {
    let place = place(folders, project);
    own::create_dir_with(DirBuilder::new().recursive(true).mode(0o700), &place)?;
    own::write(place.join(digest), serde_json::to_vec(&noted)?)
}

/// Updates the modification time of a note. Returns whether it exists.
pub(super) fn renew(folders: &Folders, project: &str, digest: &str) -> bool {
    let renewed = || -> io::Result<()> {
        let _lock = lock(folders)?;
        let path = place(folders, project).join(digest);
        let noted = read(folders, &path)?;
        own::write(path, serde_json::to_vec(&noted)?)
    };
    renewed().is_ok()
}

/// Projects with notes.
pub(super) fn projects(folders: &Folders) -> io::Result<Vec<String>> {
    names(&folders.data.join("code-of"), Path::is_dir)
}

/// A project's code folders, by digest.
pub(super) fn of(folders: &Folders, project: &str) -> io::Result<Vec<Kept>> {
    let place = place(folders, project);
    let mut kept = Vec::new();
    for digest in names(&place, Path::is_file)?.into_iter().filter(|name| is_digest(name)) {
        let path = place.join(&digest);
        // It may be removed concurrently.
        if let (Ok(noted), Ok(found)) = (read(folders, &path), own::metadata(&path)) {
            let sent_at = Timestamp(found.mtime().saturating_mul(1_000_000));
            kept.push(Kept { digest, bytes: noted.bytes, files: noted.files, sent_at });
        }
    }
    Ok(kept)
}

/// A project's code folders, by digest.
///
/// # Errors
/// The notes cannot be read.
pub(crate) async fn all(web: &Web, project: &str) -> ApiResult<Vec<Kept>> {
    let (folders, project) = (web.folders().clone(), project.to_owned());
    let read = tokio::task::spawn_blocking(move || of(&folders, &project)).await;
    read.map_err(ApiError::internal)?.map_err(ApiError::internal)
}

/// Content of a note. If it is empty, reads the sizes from the folder.
fn read(folders: &Folders, note: &Path) -> io::Result<Noted> {
    let text = own::read(note)?;
    if let Ok(noted) = serde_json::from_slice(&text) {
        return Ok(noted);
    }
    let files = files(&folders.code.join(note.file_name().unwrap_or_default())).map_err(io::Error::other)?;
    Ok(Noted { bytes: files.iter().map(|file| file.bytes).sum(), files: files.len() as u64 })
}

/// Sorted names in a folder. Empty if the folder does not exist.
pub(super) fn names(folder: &Path, wanted: impl Fn(&Path) -> bool) -> io::Result<Vec<String>> {
    let entries = match own::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| wanted(&entry.path()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}
