//! Deleting a run that has ended: its rows, and then its files.

use std::io;
use std::path::{Path, PathBuf};

use cubeloom_domain::record::RunRecord;
use cubeloom_store::Deleted;
use serde_json::json;

use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Deletes a run.
///
/// # Errors
/// It has not ended, or is gone.
pub(crate) async fn remove(web: &Web, caller: &Caller, run: &RunRecord) -> ApiResult<()> {
    let entry = audit::entry(web, caller, "run.delete", run.id.as_str()).project(&run.project);
    let entry = entry.before(json!({"pipeline": run.pipeline, "state": run.state, "user": run.user}));
    match web.store().delete_run(&run.id, &entry).await? {
        Deleted::Missing => return Err(ApiError::not_found("run", &run.id)),
        Deleted::Live => {
            let message = format!("run {} has not ended, or is about to go on: cancel it first", run.id);
            return Err(ApiError::conflict(message));
        }
        Deleted::Done => {}
    }
    let (folders, id) = (folders(web, run), run.id.clone());
    let checkpoints = web.folders().workspace.join(&run.project).join("checkpoints");
    tokio::task::spawn_blocking(move || {
        let prefix = format!("{id}.");
        for folder in folders.into_iter().chain(with_prefix(&checkpoints, &prefix)) {
            if let Err(error) = remove_all(&folder) {
                tracing::warn!(folder = %folder.display(), %error, "files of a deleted run are left");
            }
        }
    });
    Ok(())
}

/// The run's own folders: its attempts', and the one that its tasks share.
fn folders(web: &Web, run: &RunRecord) -> [PathBuf; 2] {
    let folders = web.folders();
    let shared = folders.workspace.join(&run.project).join("runs").join(run.id.as_str());
    [folders.data.join("runs").join(run.id.as_str()), shared]
}

fn with_prefix(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mine = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    mine.map(|entry| entry.path()).collect()
}

/// Links in it are removed, never followed.
fn remove_all(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
