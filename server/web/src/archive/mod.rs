//! Archives of logs and of workers' resource usage, in the object store that a project selects. They are
//! written when an attempt ends, from its cluster. They are read when the original logs are unavailable: in
//! another server's data folder, or on a removed cluster.
//!
//! An attempt has a folder of logs and an index beside it. The index is written last: an archive with an
//! index is complete.

mod copied;
mod copying;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cubeloom_domain::belongings::VolumePlace;
use cubeloom_domain::{AttemptKey, RunId};
use cubeloom_storage::browse::{BrowseError, Bucket};
use tokio::sync::Notify;

use crate::error::{ApiError, ApiResult};
use crate::state::Web;
use crate::volumes::{self, Tree};

pub(crate) use copied::{Copied, find, usage};
pub(crate) use copying::start;

/// Folder of all archives in a volume.
const TOP: &str = "cubeloom-logs";

/// State of archiving.
#[derive(Default)]
pub(crate) struct Archive {
    wake: Notify,
    behind: Mutex<BTreeMap<String, Behind>>,
}

/// Copies that are pending after errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Behind {
    /// Number of known attempts. Attempts that ended before the project enabled archiving count only once its
    /// store responds.
    pub attempts: usize,
    /// Error of the last try.
    pub why: String,
}

impl Archive {
    /// Wakes the task after a change of a project's settings.
    pub(crate) fn look(&self) {
        self.wake.notify_one();
    }

    /// Pending copies of a project.
    pub(crate) fn behind(&self, project: &str) -> Option<Behind> {
        self.lock().get(project).cloned()
    }

    /// Number of attempts with pending copies in all projects.
    pub(crate) fn behind_of_all(&self) -> usize {
        self.lock().values().map(|behind| behind.attempts).sum()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Behind>> {
        self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bucket of a project's volume.
async fn bucket(web: &Web, project: &str, volume: &str) -> ApiResult<Arc<Bucket>> {
    match volumes::open(web, None, project, volume).await? {
        Tree::Bucket(bucket) => Ok(bucket),
        Tree::Folder(_) | Tree::Empty => {
            Err(ApiError::conflict(format!("the volume `{volume}` is not in an object store")))
        }
    }
}

fn folder_of_run(run: &RunId) -> String {
    format!("{TOP}/{run}")
}

/// Name of an attempt's folder and index.
fn name_of(key: &AttemptKey) -> String {
    format!("{}.{}.{}", key.task, key.instance, key.n)
}

/// Path of the workers' resource usage of an attempt.
fn usage_of(key: &AttemptKey) -> String {
    format!("{}/{}/usage.json", folder_of_run(&key.run), name_of(key))
}

fn index_of(key: &AttemptKey) -> String {
    format!("{}/{}.json", folder_of_run(&key.run), name_of(key))
}

/// Removes the archives of a deleted run. Failures are logged.
pub(crate) fn forget(web: &Web, project: String, run: RunId) {
    let web = web.clone();
    tokio::spawn(async move {
        let forgotten = async {
            let keeping = web.store().project(&project).await?.map(|project| project.keeping);
            let Some(volume) = keeping.and_then(|keeping| keeping.logs) else { return Ok(()) };
            match bucket(&web, &project, &volume).await?.remove(&folder_of_run(&run)).await {
                Ok(()) | Err(BrowseError::NotFound(_)) => Ok(()),
                Err(error) => Err(ApiError::from(error)),
            }
        };
        if let Err(error) = forgotten.await {
            tracing::warn!(%run, error = error.detail(), "cannot delete copies of a deleted run's logs");
        }
    });
}

/// Whether logs can be archived in a volume.
pub(crate) fn takes_logs(place: &VolumePlace) -> bool {
    matches!(place, VolumePlace::ObjectStore { .. })
}
