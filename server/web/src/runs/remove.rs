//! Deletes ended runs: the rows, then the files.

use std::io;
use std::path::Path;

use cubeloom_domain::RunId;
use cubeloom_domain::record::RunRecord;
use cubeloom_files::own;
use cubeloom_storage::browse::{BrowseError, Folder, Order};
use cubeloom_store::Deleted;
use serde_json::json;

use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;
use crate::{archive, audit};

/// Deletes a run.
///
/// # Errors
/// The run has not ended, or no longer exists.
pub(crate) async fn remove(web: &Web, caller: &Caller, run: &RunRecord) -> ApiResult<()> {
    let entry = audit::entry(web, caller, "run.delete", run.id.as_str()).project(&run.project);
    let entry = entry.before(json!({"pipeline": run.pipeline, "state": run.state, "user": run.user}));
    match web.store().delete_run(&run.id, &entry).await? {
        Deleted::Missing => return Err(ApiError::not_found("run", &run.id)),
        Deleted::Live => {
            let message = format!("run {} has not ended, or is about to resume: cancel it first", run.id);
            return Err(ApiError::conflict(message));
        }
        Deleted::Done => {}
    }
    web.terminals().close_of(&run.id, caller).await;
    archive::forget(web, run.project.clone(), run.id.clone());
    let own = web.folders().data.join("runs").join(run.id.as_str());
    let (project, id) = (web.folders().workspace.join(&run.project), run.id.clone());
    tokio::task::spawn_blocking(move || {
        if let Err(error) = remove_all(&own) {
            tracing::warn!(folder = %own.display(), %error, "cannot delete the files of a deleted run");
        }
        if let Err(error) = remove_shared(&project, &id) {
            tracing::warn!(folder = %project.display(), %error, "cannot delete the files of a deleted run");
        }
    });
    Ok(())
}

/// Removes the folders of attempts. Symbolic links are removed, never followed.
fn remove_all(folder: &Path) -> io::Result<()> {
    match own::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the folder shared by the run's tasks, and its checkpoints. Tasks own the folders around them: a
/// symbolic link that one put there cannot lead out of the project.
fn remove_shared(project: &Path, run: &RunId) -> Result<(), BrowseError> {
    let Some(folder) = Folder::open(project, None)? else { return Ok(()) };
    let prefix = format!("{run}.");
    let checkpoints =
        present(folder.list("checkpoints", Order::default(), None, usize::MAX))?.unwrap_or_default();
    let mine = checkpoints.into_iter().filter(|entry| entry.name.starts_with(&prefix));
    let places = mine.map(|entry| format!("checkpoints/{}", entry.name));
    for place in places.chain([format!("runs/{run}")]) {
        present(folder.remove(&place))?;
    }
    Ok(())
}

/// A missing file need not be removed.
fn present<T>(found: Result<T, BrowseError>) -> Result<Option<T>, BrowseError> {
    match found {
        Err(BrowseError::NotFound(_)) => Ok(None),
        other => other.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_in_the_way_leads_nowhere() {
        let place = tempfile::tempdir().unwrap();
        let run = RunId::new(cubeloom_domain::Timestamp(1_700_000_000_000_000), 7);
        let (project, other) = (place.path().join("project"), place.path().join("other"));
        let theirs = [other.join(run.as_str()), other.join(format!("{run}.t.0"))];
        theirs.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
        std::fs::create_dir(&project).unwrap();
        for name in ["runs", "checkpoints"] {
            symlink(&other, project.join(name)).unwrap();
        }
        assert!(remove_shared(&project, &run).is_err());
        assert!(theirs.iter().all(|folder| folder.is_dir()));
        for name in ["runs", "checkpoints"] {
            std::fs::remove_file(project.join(name)).unwrap();
        }
        let mine = [format!("runs/{run}/a"), format!("checkpoints/{run}.t.0"), "checkpoints/z.t.0".into()];
        mine.iter().for_each(|name| std::fs::create_dir_all(project.join(name)).unwrap());
        remove_shared(&project, &run).unwrap();
        let left = mine.iter().filter(|name| project.join(name).exists()).count();
        assert_eq!(left, 1, "another run's");
        remove_shared(&project, &run).unwrap();
    }
}
