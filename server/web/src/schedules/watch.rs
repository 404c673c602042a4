//! File arrivals. One server at a time checks a pipeline's files. The found dates are stored together with
//! the time of the check.

use std::time::Duration;

use cubeloom_compiler::schedule::Arrivals;
use cubeloom_domain::Timestamp;
use cubeloom_domain::schedule::{Event, Firing, FiringState, ScheduleState, Trigger};
use cubeloom_storage::browse::BrowseError;
use cubeloom_store::FiringFilter;
use futures::{StreamExt, TryStreamExt, stream};
use tokio::time::timeout;

use super::look;
use crate::belongings::WORKSPACE;
use crate::error::{ApiError, ApiResult};
use crate::files::blocking;
use crate::state::Web;
use crate::volumes::{self, Tree};

/// Maximum number of pipelines checked concurrently.
pub(super) const AT_ONCE: usize = 4;
/// Maximum number of files of one pipeline checked concurrently.
const FILES: usize = 8;
/// Timeout for the check of one file.
const PATIENCE: Duration = Duration::from_secs(10);
/// Timeout of a whole check.
const WHOLE: Duration = Duration::from_secs(45);
/// Duration of the lease on a pipeline's check: longer than the check's timeout.
const TURN: Duration = Duration::from_secs(60);

/// Starts a check of a pipeline's files. Does nothing if another server was faster or all permits are taken:
/// then it is retried.
pub(super) async fn begin(
    web: &Web,
    state: ScheduleState,
    arrivals: Arrivals,
    now: Timestamp,
) -> ApiResult<()> {
    let Ok(permit) = web.schedules().looks.0.clone().try_acquire_owned() else { return Ok(()) };
    let read = state.revision;
    let mine = ScheduleState { next_at: Some(now.plus(TURN)), revision: read + 1, ..state };
    if !web.store().record_firings(&mine, read, &[]).await? {
        return Ok(());
    }
    let web = web.clone();
    tokio::spawn(async move {
        if let Err(error) = once(&web, mine, &arrivals).await {
            tracing::warn!(error = error.detail(), "cannot store the result of checking for files");
        }
        drop(permit);
        web.schedules().wake();
    });
    Ok(())
}

/// Checks the files and stores the result.
async fn once(web: &Web, state: ScheduleState, arrivals: &Arrivals) -> ApiResult<()> {
    let before = state.look.clone().unwrap_or_default();
    let found = match timeout(WHOLE, find(web, &state, arrivals)).await {
        Ok(found) => found,
        Err(_) => Err(ApiError::unavailable(format!("the storage timed out after {} s", WHOLE.as_secs()))),
    };
    let now = web.now();
    let mut look = before.clone();
    look.tried_at = Some(now);
    let mut firings = Vec::new();
    match found {
        Ok(found) => {
            let (fire, left_out) = arrivals.arrived(&before, state.handled_at, now, found);
            let firing = |date, why: Option<&str>| firing(&state, arrivals, date, why, now);
            firings.extend(left_out.into_iter().map(|(date, why)| firing(date, Some(why))));
            firings.extend(fire.into_iter().map(|date| firing(date, None)));
            (look.looked_at, look.failures, look.error) = (Some(now), 0, None);
        }
        Err(error) => {
            look.failures = look.failures.saturating_add(1);
            look.error = Some(error.detail().to_owned());
        }
    }
    let read = state.revision;
    let mut after = ScheduleState { look: Some(look), ..state };
    look::reset(&mut after);
    // If the schedule has changed in the meantime, it is checked again.
    web.store().record_firings(&after, read, &firings).await?;
    Ok(())
}

/// Unknown dates whose files exist.
async fn find(web: &Web, state: &ScheduleState, arrivals: &Arrivals) -> ApiResult<Vec<Timestamp>> {
    let mut dates = arrivals.dates(state.handled_at, web.now());
    let (Some(last), Some(first)) = (dates.first().copied(), dates.last().copied()) else {
        return Ok(Vec::new());
    };
    let filter = FiringFilter {
        projects: Some(vec![state.of.project.clone()]),
        pipeline: Some(state.of.pipeline.clone()),
        first: Some(first),
        last: Some(last),
        // The range may contain other dates that users requested.
        limit: 10 * dates.len(),
        ..FiringFilter::default()
    };
    let known: Vec<Timestamp> =
        web.store().firings(&filter).await?.into_iter().map(|firing| firing.date).collect();
    dates.retain(|date| !known.contains(date));
    let Some(file) = state.schedule.as_ref().and_then(|schedule| schedule.file.as_ref()) else {
        return Ok(Vec::new());
    };
    let place = match file.path.contains("://") {
        true => Place::Hdfs,
        false => {
            let volume = file.volume.as_deref().unwrap_or(WORKSPACE);
            Place::Volume(volumes::open(web, None, &state.of.project, volume).await?)
        }
    };
    let place = &place;
    let looks = dates.into_iter().map(async |date| {
        let there = timeout(PATIENCE, place.has(web, arrivals.path(date))).await;
        let silent =
            |_| ApiError::unavailable(format!("the storage did not respond within {} s", PATIENCE.as_secs()));
        Ok::<_, ApiError>(there.map_err(silent)??.then_some(date))
    });
    let found: Vec<Option<Timestamp>> = stream::iter(looks).buffer_unordered(FILES).try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}

/// Storage of the files.
enum Place {
    Volume(Tree),
    /// An address outside the project's volumes.
    Hdfs,
}

impl Place {
    /// Whether the file exists, or the folder is not empty.
    async fn has(&self, web: &Web, path: String) -> ApiResult<bool> {
        let is_folder = path.ends_with('/');
        let there = match self {
            Self::Hdfs => {
                let inner = web.settings().private_endpoints;
                return cubeloom_storage::transfer::is_there(&path, inner, PATIENCE)
                    .await
                    .map_err(|error| ApiError::unavailable(error.to_string()));
            }
            Self::Volume(Tree::Empty) => Ok(false),
            Self::Volume(Tree::Folder(folder)) => {
                let folder = folder.clone();
                return blocking(move || folder.holds(&path)).await;
            }
            Self::Volume(Tree::Bucket(bucket)) if is_folder => {
                bucket.list(&path, None, 1).await.map(|found| !found.is_empty())
            }
            Self::Volume(Tree::Bucket(bucket)) => bucket.object(&path).await.map(|_| true),
        };
        match there {
            Err(BrowseError::NotFound(_) | BrowseError::NotAFile(_)) => Ok(false),
            other => Ok(other?),
        }
    }
}

fn firing(
    state: &ScheduleState,
    arrivals: &Arrivals,
    date: Timestamp,
    why: Option<&str>,
    now: Timestamp,
) -> Firing {
    Firing {
        of: state.of.clone(),
        date,
        trigger: Trigger::File,
        user: state.set_by.clone(),
        state: if why.is_some() { FiringState::Missed } else { FiringState::Due },
        run: None,
        why: why.map(Into::into),
        detail: None,
        backfill: None,
        event: Some(Event { at: now, what: arrivals.path(date) }),
        changed_at: now,
    }
}
