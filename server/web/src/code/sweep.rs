//! Removes unreferenced code some time after its last upload: it may be about to be used.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_files::own;

use super::{is_digest, notes};
use crate::error::{ApiError, ApiResult};
use crate::state::{Folders, Web};

/// Minimum age.
pub(crate) const AFTER: Duration = Duration::from_secs(30 * 86_400);
/// Minimum age of partial uploads left by a crash.
const ABANDONED: Duration = Duration::from_secs(86_400);

/// Removes code that no version and no run references. Retries failures the next time.
pub(crate) async fn sweep(web: &Web) {
    let swept = async {
        let folders = web.folders();
        for project in notes::projects(folders).map_err(ApiError::internal)? {
            of_project(web, project).await?;
        }
        folders_of_nobody(web).await
    };
    if let Err(error) = swept.await {
        tracing::warn!(error = error.detail(), "cannot remove unused code folders; retrying in an hour");
    }
}

fn ago(web: &Web, time: Duration) -> Timestamp {
    Timestamp(web.now().0.saturating_sub(i64::try_from(time.as_micros()).unwrap_or(i64::MAX)))
}

/// Removes outdated notes of a project.
async fn of_project(web: &Web, project: String) -> ApiResult<()> {
    let old = ago(web, AFTER);
    let mut kept = notes::all(web, &project).await?;
    kept.retain(|one| one.sent_at < old);
    if kept.is_empty() {
        return Ok(());
    }
    let used = web.store().code_in_use(&project).await?;
    kept.retain(|one| !used.contains(&one.digest));
    let folders = web.folders().clone();
    blocking(move || {
        let _lock = notes::lock(&folders)?;
        for one in kept {
            let path = notes::place(&folders, &project).join(&one.digest);
            // It may have been uploaded again since.
            if own::metadata(&path).is_ok_and(|found| modified(&found) < old) {
                own::remove_file(&path)?;
                tracing::info!(
                    project,
                    digest = one.digest,
                    bytes = one.bytes,
                    "unused code folders were removed"
                );
            }
        }
        Ok(())
    })
    .await
}

/// Removes folders without a note in any project, and partial uploads.
async fn folders_of_nobody(web: &Web) -> ApiResult<()> {
    let (old, abandoned) = (ago(web, AFTER), ago(web, ABANDONED));
    let folders = web.folders().clone();
    let here = blocking(move || {
        let noted = noted(&folders)?;
        let mut here = notes::names(&folders.code, Path::is_dir)?;
        here.retain(|name| {
            let limit = if is_digest(name) { old } else { abandoned };
            let known = is_digest(name) || name.starts_with('.');
            let found = own::metadata(folders.code.join(name));
            known && !noted.contains(name) && found.is_ok_and(|found| modified(&found) < limit)
        });
        Ok(here)
    })
    .await?;
    for name in here {
        if is_digest(&name) && web.store().names_code(&name).await? {
            continue;
        }
        let folders = web.folders().clone();
        blocking(move || {
            let _lock = notes::lock(&folders)?;
            if noted(&folders)?.contains(&name) {
                return Ok(());
            }
            own::remove_dir_all(folders.code.join(&name))
        })
        .await?;
    }
    Ok(())
}

/// Digests with a note.
fn noted(folders: &Folders) -> io::Result<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    for project in notes::projects(folders)? {
        all.extend(notes::names(&notes::place(folders, &project), Path::is_file)?);
    }
    Ok(all)
}

fn modified(found: &std::fs::Metadata) -> Timestamp {
    Timestamp(found.mtime().saturating_mul(1_000_000))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> ApiResult<T> {
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?.map_err(ApiError::internal)
}
