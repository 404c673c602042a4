//! Which project has which folder of code, and how large each is: a small file for each of them.

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

/// What a note holds. Those of before it was counted are empty.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Noted {
    /// Of all files together.
    pub(super) bytes: u64,
    pub(super) files: u64,
}

/// Code folder of a project.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// Digest of the folder.
    pub(crate) digest: String,
    /// How large it is.
    pub(crate) bytes: u64,
    /// Number of files in the folder.
    pub(crate) files: u64,
    /// When it was last sent, or named.
    pub(crate) sent_at: Timestamp,
}

/// The folder of a project's notes.
pub(super) fn place(folders: &Folders, project: &str) -> PathBuf {
    folders.data.join("code-of").join(project)
}

/// Held while a folder and its note come or go, by whichever process.
pub(super) fn lock(folders: &Folders) -> io::Result<File> {
    let above = folders.data.join("code-of");
    own::create_dir_with(DirBuilder::new().recursive(true).mode(0o700), &above)?;
    let file = own::open_with(OpenOptions::new().create(true).append(true), above.join(".lock"))?;
    file.lock()?;
    Ok(file)
}

/// Writes a note, or writes it anew.
pub(super) fn write(folders: &Folders, project: &str, digest: &str, noted: Noted) -> io::Result<()> {
    let place = place(folders, project);
    own::create_dir_with(DirBuilder::new().recursive(true).mode(0o700), &place)?;
    own::write(place.join(digest), serde_json::to_vec(&noted)?)
}

/// Makes a note as young as if it had just been written; whether there is one.
pub(super) fn renew(folders: &Folders, project: &str, digest: &str) -> bool {
    let renewed = || -> io::Result<()> {
        let _lock = lock(folders)?;
        let path = place(folders, project).join(digest);
        let noted = read(folders, &path)?;
        own::write(path, serde_json::to_vec(&noted)?)
    };
    renewed().is_ok()
}

/// All projects that have notes.
pub(super) fn projects(folders: &Folders) -> io::Result<Vec<String>> {
    names(&folders.data.join("code-of"), Path::is_dir)
}

/// The folders that a project has, by digest.
pub(super) fn of(folders: &Folders, project: &str) -> io::Result<Vec<Kept>> {
    let place = place(folders, project);
    let mut kept = Vec::new();
    for digest in names(&place, Path::is_file)?.into_iter().filter(|name| is_digest(name)) {
        let path = place.join(&digest);
        // It may be removed at this moment.
        if let (Ok(noted), Ok(found)) = (read(folders, &path), own::metadata(&path)) {
            let sent_at = Timestamp(found.mtime().saturating_mul(1_000_000));
            kept.push(Kept { digest, bytes: noted.bytes, files: noted.files, sent_at });
        }
    }
    Ok(kept)
}

/// The folders that a project has, by digest.
///
/// # Errors
/// When the notes cannot be read.
pub(crate) async fn all(web: &Web, project: &str) -> ApiResult<Vec<Kept>> {
    let (folders, project) = (web.folders().clone(), project.to_owned());
    let read = tokio::task::spawn_blocking(move || of(&folders, &project)).await;
    read.map_err(ApiError::internal)?.map_err(ApiError::internal)
}

/// What a note says; where it says nothing, what the folder says.
fn read(folders: &Folders, note: &Path) -> io::Result<Noted> {
    let text = own::read(note)?;
    if let Ok(noted) = serde_json::from_slice(&text) {
        return Ok(noted);
    }
    let files = files(&folders.code.join(note.file_name().unwrap_or_default())).map_err(io::Error::other)?;
    Ok(Noted { bytes: files.iter().map(|file| file.bytes).sum(), files: files.len() as u64 })
}

/// The names of what lies in a folder, sorted; none when there is no such folder.
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
