//! Folders of code that go with pipelines. Each lies once on the disk, under the SHA-256 of its content; which project
//! has which is noted beside, so that nobody reads another project's code by its digest.

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

/// Copies a folder to where runs find it, for a project.
///
/// # Errors
/// When it cannot be written.
pub fn keep(folders: &Folders, project: &str, snapshot: &Snapshot) -> Result<(), SnapshotError> {
    let noted = Noted { bytes: snapshot.bytes(), files: snapshot.len() as u64 };
    let unwritable = |source| SnapshotError::Unwritable { place: notes::place(folders, project), source };
    // Nothing is removed between the copy and the note.
    let _lock = notes::lock(folders).map_err(unwritable)?;
    snapshot.keep(&folders.code)?;
    notes::write(folders, project, &snapshot.digest, noted).map_err(unwritable)
}

/// Whether a project has the folder of this digest.
pub(crate) fn has(folders: &Folders, project: &str, digest: &str) -> bool {
    is_digest(digest) && notes::place(folders, project).join(digest).is_file()
}

/// Whether a project has the folder of this digest, which from now on counts as just sent: something is about to name
/// it.
pub(crate) fn renew(folders: &Folders, project: &str, digest: &str) -> bool {
    is_digest(digest) && notes::renew(folders, project, digest)
}

/// The folder of this digest, when the project has it.
///
/// # Errors
/// When it has not.
pub(crate) fn folder(web: &Web, project: &str, digest: &str) -> ApiResult<PathBuf> {
    let missing = || ApiError::not_found("folder of code", digest);
    if !has(web.folders(), project, digest) {
        return Err(missing());
    }
    let folder = web.folders().code.join(digest);
    if folder.is_dir() { Ok(folder) } else { Err(missing()) }
}

/// The files of a folder of code, by name.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) async fn listing(folder: PathBuf) -> ApiResult<Vec<File>> {
    let read = move || files(&folder);
    tokio::task::spawn_blocking(read).await.map_err(ApiError::internal)?.map_err(ApiError::internal)
}

/// What is wrong with the arguments of a plan that name files of its folder of code: those that are not in it.
#[must_use]
pub fn missing(folders: &Folders, plan: &RunPlan) -> Vec<Problem> {
    let folder = plan.context.code.as_ref().map(|digest| folders.code.join(digest));
    // A folder that is not here says nothing of its files.
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else { return Vec::new() };
    missing_files(plan, |name| file_in(&folder, name.trim_start_matches("./")).is_some())
}

/// The path of a file below a folder of code. Such a folder holds plain files and folders only, no links.
pub(crate) fn file_in(folder: &Path, name: &str) -> Option<PathBuf> {
    let plain = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let path = folder.join(name);
    (plain && !name.is_empty() && !name.contains('\0') && own::symlink_metadata(&path).ok()?.is_file())
        .then_some(path)
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}
