//! Code folders of pipelines. Each is stored once, under the SHA-256 of its content. A note for each project
//! records its folders, so that a digest does not give access to another project's code.

mod notes;
mod sweep;
mod unpack;

use std::path::{Path, PathBuf};

use cubeloom_compiler::missing_files;
use cubeloom_domain::Problem;
use cubeloom_domain::plan::RunPlan;
use cubeloom_files::own;
use cubeloom_storage::snapshot::{File, Snapshot, SnapshotError, files};

use crate::error::{ApiError, ApiResult};
use crate::state::{Folders, Web};

use notes::Noted;
pub(crate) use notes::all as notes_of;
pub(crate) use sweep::{AFTER, sweep};
pub(crate) use unpack::{Scratch, unpack};

/// Copies a folder to the code store, for a project.
///
/// # Errors
/// It cannot be written.
pub fn keep(folders: &Folders, project: &str, snapshot: &Snapshot) -> Result<(), SnapshotError> {
    let noted = Noted { bytes: snapshot.bytes(), files: snapshot.len() as u64 };
    let unwritable = |source| SnapshotError::Unwritable { place: notes::place(folders, project), source };
    // Nothing may be removed between the copy and the note.
    let _lock = notes::lock(folders).map_err(unwritable)?;
    snapshot.keep(&folders.code)?;
    notes::write(folders, project, &snapshot.digest, noted).map_err(unwritable)
}

/// Whether a project has a folder with this digest.
pub(crate) fn has(folders: &Folders, project: &str, digest: &str) -> bool {
    is_digest(digest) && notes::place(folders, project).join(digest).is_file()
}

/// Whether a project has a folder with this digest. Counts as an upload, so that it is kept: it is about to
/// be referenced.
pub(crate) fn renew(folders: &Folders, project: &str, digest: &str) -> bool {
    is_digest(digest) && notes::renew(folders, project, digest)
}

/// The folder with this digest, if the project has it.
///
/// # Errors
/// The project does not have it.
pub(crate) fn folder(web: &Web, project: &str, digest: &str) -> ApiResult<PathBuf> {
    let missing = || ApiError::not_found("code folder", digest);
    if !has(web.folders(), project, digest) {
        return Err(missing());
    }
    let folder = web.folders().code.join(digest);
    if folder.is_dir() { Ok(folder) } else { Err(missing()) }
}

/// Files of a code folder, by name.
///
/// # Errors
/// The folder cannot be read.
pub(crate) async fn listing(folder: PathBuf) -> ApiResult<Vec<File>> {
    let read = move || files(&folder);
    tokio::task::spawn_blocking(read).await.map_err(ApiError::internal)?.map_err(ApiError::internal)
}

/// Problems of arguments that name files missing in the plan's code folder.
#[must_use]
pub fn missing(folders: &Folders, plan: &RunPlan) -> Vec<Problem> {
    let folder = plan.context.code.as_ref().map(|digest| folders.code.join(digest));
    // Without the folder, its files are unknown.
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else { return Vec::new() };
    missing_files(plan, |name| file_in(&folder, name.trim_start_matches("./")).is_some())
}

/// Path of a file in a code folder. Such folders contain only plain files and folders, no links.
pub(crate) fn file_in(folder: &Path, name: &str) -> Option<PathBuf> {
    let plain = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let path = folder.join(name);
    (plain && !name.is_empty() && !name.contains('\0') && own::symlink_metadata(&path).ok()?.is_file())
        .then_some(path)
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}
