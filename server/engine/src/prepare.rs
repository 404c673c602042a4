//! Fills the folder of a run of a part with a copy of an earlier run's folder.
//!
//! A copy, as programs write in place: whatever the new tasks do, the earlier run keeps what it had. Where the file
//! system can share blocks until they are written, the copy costs next to nothing.

use std::path::Path;

use cubeloom_domain::failpoint;
use cubeloom_storage::browse::{BrowseError, Folder};

use crate::core::Preparation;

/// Fills the folder, unless it is there. It appears whole or not at all, so this may be done again at any time.
///
/// # Errors
/// A sentence for the person.
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
                "the folder of run {of}, which this run takes files from, is gone: run the whole pipeline"
            )
        }
        other => {
            format!("the folder of run {of}, which this run takes files from, cannot be copied: {other}")
        }
    };
    let folder = Folder::open(project, None).map_err(refused)?;
    let folder = folder.ok_or_else(|| refused(BrowseError::NotFound(String::new())))?;
    folder.copy_folder(&format!("runs/{of}"), &format!("runs/{run}"), project).map_err(refused)
}
