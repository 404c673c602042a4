//! Maps projects and runs to folders on this machine, and I/O errors to API errors.

use cubeloom_domain::RunId;
use cubeloom_storage::browse::{BrowseError, Folder};

use crate::error::{ApiError, ApiResult, Kind};
use crate::state::Web;

/// The project's shared storage. `None` until something is stored there.
///
/// # Errors
/// The folder cannot be opened.
pub(crate) async fn project_folder(web: &Web, project: &str) -> ApiResult<Option<Folder>> {
    let path = web.folders().workspace.join(project);
    let owner = owner(web, project)?;
    blocking(move || Folder::open(&path, owner)).await
}

/// A run's folder. `None` if the run left no files.
///
/// # Errors
/// The folder cannot be opened.
pub(crate) async fn run_folder(web: &Web, project: &str, run: &RunId) -> ApiResult<Option<Folder>> {
    let Some(folder) = project_folder(web, project).await? else { return Ok(None) };
    let path = format!("runs/{run}");
    blocking(move || match folder.sub(&path) {
        Err(BrowseError::NotFound(_)) => Ok(None),
        other => other.map(Some),
    })
    .await
}

/// Uid and gid of the project's files, if jobs run under their own.
pub(crate) fn owner(web: &Web, project: &str) -> ApiResult<Option<u32>> {
    for (_, cluster) in web.clusters().all() {
        match cluster.owner(project) {
            Ok(None) => {}
            Ok(found) => return Ok(found),
            Err(failure) => return Err(ApiError::unavailable(failure.message)),
        }
    }
    Ok(None)
}

/// Runs disk I/O on a blocking thread.
///
/// # Errors
/// Any error, as an API error.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BrowseError> + Send + 'static,
) -> ApiResult<T> {
    Ok(tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)??)
}

impl From<BrowseError> for ApiError {
    fn from(error: BrowseError) -> Self {
        use BrowseError as E;
        match error {
            E::BadPath { .. } | E::Leaves(_) | E::Special(_) => Self::field("/path", error.to_string()),
            E::NotFound(path) => Self::not_found("file", path),
            E::NotAFile(_) | E::NotAFolder(_) | E::Exists(_) | E::TooMany { .. } => {
                Self::conflict(error.to_string())
            }
            E::NoRoom(_) => Self::new(Kind::Unavailable, error.to_string()),
            E::Denied(_) => Self::forbidden(error.to_string()),
            E::Store { .. } => Self::new(Kind::Unavailable, error.to_string()),
            E::Io { .. } => Self::internal(error),
        }
    }
}
