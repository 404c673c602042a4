//! Fills the folder of a partial run with a copy of an earlier run's folder.
//!
//! It is a copy because programs write in place: whatever the new tasks do, the earlier run keeps its files.
//! On file systems with copy-on-write, the copy costs almost nothing.

use std::path::Path;

use cubeloom_domain::failpoint;
use cubeloom_storage::browse::{BrowseError, Folder};

use crate::core::Preparation;

/// Fills the folder, unless it exists. It appears complete or not at all, so this may be repeated at any
/// time.
///
/// # Errors
/// A sentence for the user.
pub async fn fill(workspace: &Path, preparation: Preparation) -> Result<(), String> {
    let project = workspace.join(&preparation.project);
    let work = move || {
        failpoint::hit("engine.prepare.before");
        let done = copy(&project, &preparation);
        failpoint::hit("engine.prepare.after");
        done
    };
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

fn copy(project: &Path, preparation: &Preparation) -> Result<(), String> {
    let Preparation { run, of, .. } = preparation;
    let refused = |error: BrowseError| match error {
        BrowseError::NotFound(_) => {
            format!(
                "this run reuses files of run {of}, whose folder no longer exists: run the whole pipeline"
            )
        }
        other => {
            format!("this run reuses files of run {of}, whose folder cannot be copied: {other}")
        }
    };
    let folder = Folder::open(project, None).map_err(refused)?;
    let folder = folder.ok_or_else(|| refused(BrowseError::NotFound(String::new())))?;
    folder.copy_folder(&format!("runs/{of}"), &format!("runs/{run}"), project).map_err(refused)
}
