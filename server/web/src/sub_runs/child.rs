//! Starts a sub-run: from the task's job to the stored run.

use std::sync::atomic::{AtomicBool, Ordering};

use cubeloom_domain::call::{Call, Called};
use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::record::{RunRecord, Wish};
use cubeloom_domain::schedule::{Cause, Trigger};
use cubeloom_domain::{AttemptKey, RunId, Timestamp};
use cubeloom_files::own;
use cubeloom_store::StoreError;
use tokio::sync::{Mutex, Notify};
use tokio::time::sleep;

use super::{AGAIN, could_not_start, patiently};
use crate::auth::secret;
use crate::code;
use crate::error::{ApiError, ApiResult, Kind};
use crate::plan::Planner;
use crate::runs::start::{self, Origin, Source, Wanted};

/// An attempt and its run.
pub(super) struct Child {
    pub(super) key: AttemptKey,
    pub(super) run: RunId,
    /// Whether it was cancelled. Locked while the run is being stored.
    pub(super) unwanted: Mutex<bool>,
    /// Notified when the run may have ended.
    pub(super) told: Notify,
    followed: AtomicBool,
}

impl Child {
    pub(super) fn new(key: AttemptKey, run: RunId) -> Self {
        let (unwanted, told, followed) = Default::default();
        Self { key, run, unwanted, told, followed }
    }

    /// Marks the run as followed. Returns whether it already was.
    pub(super) fn is_followed(&self) -> bool {
        self.followed.swap(true, Ordering::Relaxed)
    }
}

/// Stores the run of a job. Returns the time of the request.
///
/// # Errors
/// Why the run cannot be created.
pub(super) async fn create(planner: &Planner, job: &Job, id: &RunId) -> Result<Timestamp, Failure> {
    let call = job.call.as_ref().ok_or_else(|| could_not_start("the job names no pipeline"))?;
    let above = patiently(|| above(planner, &job.key.run)).await;
    let Some(parent) = above.first() else {
        return Err(could_not_start("the run that started it no longer exists"));
    };
    loop {
        match start(planner, job, call, id, &above, parent).await {
            Ok(started) => return Ok(started.created_at),
            // The database or a cluster is unreachable.
            Err(error) if error.kind() == Kind::Unavailable => {
                tracing::warn!(key = %job.key, detail = error.detail(), "cannot start the run of another pipeline yet; retrying");
                sleep(AGAIN).await;
            }
            Err(error) => return Err(refused(call, &error)),
        }
    }
}

/// Cancels a run if it still exists.
pub(super) async fn cancel(planner: &Planner, run: &RunRecord) -> Result<(), StoreError> {
    match planner.store.add_wish(&run.id, &Wish::Cancel, &run.user, planner.now(), None).await {
        Ok(_) | Err(StoreError::NoSuchRun(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

async fn start(
    planner: &Planner,
    job: &Job,
    call: &Call,
    id: &RunId,
    above: &[RunRecord],
    parent: &RunRecord,
) -> ApiResult<RunRecord> {
    let wanted = Wanted {
        project: job.project.clone(),
        user: parent.user.clone(),
        acting: job.user.clone(),
        source: source(planner, call, job.code.as_deref())?,
        parameters: call.parameters.clone(),
        part: None,
        place: None,
        origin: Some(Origin {
            id: id.clone(),
            attempt: job.key.clone(),
            root: above.last().map_or_else(|| parent.id.clone(), |run| run.id.clone()),
            above: above.iter().rev().map(|run| run.pipeline.clone()).collect(),
            timezone: call.timezone.clone(),
        }),
        // It has the same logical date as the calling run.
        cause: Cause { trigger: Trigger::Task, date: parent.cause.date, late_at: None },
    };
    Ok(start::store(planner, wanted, entry(planner, parent)).await?.record)
}

/// Source of a call. Files are read from the code folder of the caller's run.
///
/// # Errors
/// The file does not exist or is not text.
pub(super) fn source(planner: &Planner, call: &Call, folder: Option<&str>) -> ApiResult<Source> {
    Ok(match &call.of {
        Called::Pipeline { name, version } => Source::Stored { pipeline: name.clone(), version: *version },
        Called::File(path) => {
            let wrong = |message: String| ApiError::field("/file", message);
            let folder = folder.ok_or_else(|| {
                wrong("the pipeline has no code folder: upload one, or name a stored pipeline".into())
            })?;
            let place = code::file_in(&planner.folders.code.join(folder), path.trim_start_matches("./"));
            let place = place.ok_or_else(|| wrong(format!("the pipeline's folder has no file `{path}`")))?;
            let text = own::read_to_string(place)
                .map_err(|error| wrong(format!("`{path}` cannot be read: {error}")))?;
            Source::Document { text, code: Some(folder.to_owned()) }
        }
    })
}

/// The run with this id, its calling run, and so on.
async fn above(planner: &Planner, run: &RunId) -> Result<Vec<RunRecord>, StoreError> {
    let mut above: Vec<RunRecord> = Vec::new();
    let mut next = Some(run.clone());
    while let Some(id) = next {
        let record = planner.store.run(&id).await?;
        next = record.as_ref().and_then(|record| record.parent.as_ref()).map(|parent| parent.run.clone());
        above.extend(record);
    }
    Ok(above)
}

/// A failure with the first problems as one message.
fn refused(call: &Call, error: &ApiError) -> Failure {
    let what = match &call.of {
        Called::Pipeline { name, .. } => name,
        Called::File(path) => path,
    };
    let said = match error.problems() {
        [] => error.detail().to_owned(),
        problems => problems.iter().take(3).map(|one| one.message.as_str()).collect::<Vec<_>>().join("; "),
    };
    could_not_start(format!("`{what}` cannot run: {said}"))
}

fn entry(planner: &Planner, parent: &RunRecord) -> AuditEntry {
    let at = planner.now();
    AuditEntry {
        id: secret::new_id(at),
        at,
        user_id: None,
        user_name: parent.user.clone(),
        via: format!("run {}", parent.id),
        address: String::new(),
        project: Some(parent.project.clone()),
        action: "run.start".into(),
        subject: String::new(),
        before: None,
        after: None,
    }
}
