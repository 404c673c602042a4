//! Copies of logs, and of what workers used over time, in the object store that a project has chosen. They are made when an
//! attempt has ended, from what its cluster lets be read, and read again where that is gone: another server's data folder, a cluster that was taken away.
//!
//! An attempt has its logs in a folder, and beside it an index, which is written last: what has one is whole.

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

/// The folder of all copies in a volume.
const TOP: &str = "cubeloom-logs";

/// How the copying stands.
#[derive(Default)]
pub(crate) struct Archive {
    wake: Notify,
    behind: Mutex<BTreeMap<String, Behind>>,
}

/// Copies that could not be made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Behind {
    /// Of how many attempts that is known: what ended before its project wanted copies is only known when its store
    /// answers.
    pub attempts: usize,
    /// Reason why the last try failed.
    pub why: String,
}

impl Archive {
    /// A project has changed what it wants kept.
    pub(crate) fn look(&self) {
        self.wake.notify_one();
    }

    /// The copies of a project that could not be made yet.
    pub(crate) fn behind(&self, project: &str) -> Option<Behind> {
        self.lock().get(project).cloned()
    }

    /// Of how many attempts of all projects copies could not be made yet.
    pub(crate) fn behind_of_all(&self) -> usize {
        self.lock().values().map(|behind| behind.attempts).sum()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Behind>> {
        self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bucket of a project's volume.
async fn bucket(web: &Web, project: &str, volume: &str) -> ApiResult<Arc<Bucket>> {
    match volumes::open(web, None, project, volume).await? {
        Tree::Bucket(bucket) => Ok(bucket),
        Tree::Folder(_) | Tree::Empty => {
            Err(ApiError::conflict(format!("the volume `{volume}` is in no object store")))
        }
    }
}

fn folder_of_run(run: &RunId) -> String {
    format!("{TOP}/{run}")
}

/// An attempt, as its folder and its index are named.
fn name_of(key: &AttemptKey) -> String {
    format!("{}.{}.{}", key.task, key.instance, key.n)
}

/// Where what the workers of an attempt used lies.
fn usage_of(key: &AttemptKey) -> String {
    format!("{}/{}/usage.json", folder_of_run(&key.run), name_of(key))
}

fn index_of(key: &AttemptKey) -> String {
    format!("{}/{}.json", folder_of_run(&key.run), name_of(key))
}

/// Removes the copies of a deleted run's logs. What cannot be removed is said in the server's log.
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
            tracing::warn!(%run, error = error.detail(), "copies of a deleted run's logs are left");
        }
    });
}

/// Whether copies can be put into a volume.
pub(crate) fn takes_logs(place: &VolumePlace) -> bool {
    matches!(place, VolumePlace::ObjectStore { .. })
}
