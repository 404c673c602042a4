//! Starts runs, from a stored pipeline or from a document in the request.

use cubeloom_compiler::{Document, Planned};
use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{RunRecord, TakenOver};
use cubeloom_domain::schedule::Cause;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{AttemptKey, JsonMap, Problem, RunId, Timestamp};
use cubeloom_store::{PipelineVersion, StoreError};
use serde_json::json;

use crate::code;
use crate::error::{ApiError, ApiResult};
use crate::part::{self, PartError, WantedPart};
use crate::plan::{self, Order, Planner};
use crate::state::Web;

/// A run to start.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub project: String,
    /// Name of the user who owns the run.
    pub user: String,
    /// User that its tasks run as, which decides whose personal secrets they can use: the user, or a name
    /// that no account can have. Every editor can change what a hook starts, so it must not use the secrets
    /// of the hook's creator.
    pub acting: String,
    /// What to run.
    pub source: Source,
    /// Parameters. Texts are parsed by the declared types.
    pub parameters: JsonMap,
    /// Tasks to run, if not all.
    pub part: Option<WantedPart>,
    /// Target cluster, instead of the pipeline's.
    pub place: Option<Pool>,
    /// The task that starts the run, if not a user.
    pub origin: Option<Origin>,
    /// What triggered the run, and its logical date.
    pub cause: Cause,
}

/// The task that starts a sub-run.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// Id of the new run.
    pub id: RunId,
    /// The attempt that waits for the run.
    pub attempt: AttemptKey,
    pub root: RunId,
    /// Pipelines from the root run down to this one. Each runs the next.
    pub above: Vec<String>,
    /// Time zone of the calling run's dates.
    pub timezone: Option<String>,
}

/// What a run is created from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A stored pipeline.
    Stored {
        pipeline: String,
        /// `None` means the newest version.
        version: Option<u32>,
    },
    /// A document in the request.
    Document {
        text: String,
        /// Digest of the code folder uploaded for it.
        code: Option<String>,
    },
}

/// A stored run. The engine has been notified.
#[derive(Clone, Debug)]
pub(crate) struct Started {
    pub record: RunRecord,
    /// Warnings about what is valid but probably unintended.
    pub warnings: Vec<Problem>,
}

/// Plans a run, stores it and wakes the engine. `entry` names the user. Its subject and content are set here.
///
/// # Errors
/// All problems of the document and its parameters, or what does not exist.
pub(crate) async fn start(web: &Web, wanted: Wanted, entry: AuditEntry) -> ApiResult<Started> {
    let started = store(web.planner(), wanted, entry).await?;
    web.wake();
    web.live().touched(&started.record.id);
    Ok(started)
}

/// Plans a run and stores it.
///
/// # Errors
/// As [`start`].
pub(crate) async fn store(planner: &Planner, wanted: Wanted, entry: AuditEntry) -> ApiResult<Started> {
    let Ready { record, plan, taken, warnings, entry } = prepare(planner, wanted, entry).await?;
    planner.store.create_run_with(&record, &plan, &taken, Some(&entry)).await.map_err(refused)?;
    Ok(Started { record, warnings })
}

/// Plans the run of a due date and stores it. `None` if the date already has a run.
///
/// # Errors
/// As [`start`].
pub(crate) async fn store_of_date(
    planner: &Planner,
    wanted: Wanted,
    date: Timestamp,
    entry: AuditEntry,
) -> ApiResult<Option<Started>> {
    let Ready { record, plan, warnings, entry, .. } = prepare(planner, wanted, entry).await?;
    let stored = planner.store.create_run_of_date(&record, &plan, date, &entry).await.map_err(refused)?;
    Ok(stored.then_some(Started { record, warnings }))
}

/// A run that is ready to be stored.
struct Ready {
    record: RunRecord,
    plan: RunPlan,
    taken: TakenOver,
    warnings: Vec<Problem>,
    entry: AuditEntry,
}

async fn prepare(planner: &Planner, wanted: Wanted, mut entry: AuditEntry) -> ApiResult<Ready> {
    let Wanted { project, user, acting, source, parameters, part, place, origin, cause } = wanted;
    let (text, code, version) = read(planner, &project, source).await?;
    let (id, parent, root, above, timezone) = match origin {
        Some(Origin { id, attempt, root, above, timezone }) => {
            (Some(id), Some(attempt), Some(root), above, timezone)
        }
        None => (None, None, None, Vec::new(), None),
    };
    let date = match part.as_ref().and_then(WantedPart::rest_of) {
        Some(run) if cause.date.is_none() => {
            planner.store.plan_head(run).await?.map(|plan| plan.context.date)
        }
        _ => cause.date,
    };
    let given = parameters.clone();
    let order = Order {
        project: project.clone(),
        user: acting,
        parameters: given,
        code,
        id,
        root,
        above,
        date,
        timezone,
        place,
    };
    let (document, planned) = plan::plan(planner, text, order).await?;
    let begun = begin(planner, planned, part.as_ref(), &document).await?;
    let Begun { plan, taken, warnings, message } = begun;
    let record = RunRecord {
        id: plan.context.id.clone(),
        project: project.clone(),
        pipeline: plan.pipeline.clone(),
        user,
        state: RunState::Queued,
        created_at: date.map_or(plan.context.date, |_| planner.now()),
        started_at: None,
        ended_at: None,
        tasks: u32::try_from(plan.tasks.len()).unwrap_or(u32::MAX),
        message,
        version,
        parameters,
        acting: None,
        parent,
        cause,
    };
    entry.subject = record.id.to_string();
    entry.project = Some(project);
    let (pipeline, parameters) = (&record.pipeline, &record.parameters);
    entry.after =
        Some(json!({"pipeline": pipeline, "version": version, "parameters": parameters, "part": plan.part}));
    if let (Some(place), Some(after)) = (&plan.place, &mut entry.after) {
        after["place"] = json!(place.to_string());
    }
    Ok(Ready { record, plan, taken, warnings, entry })
}

/// Initial state of a run.
struct Begun {
    plan: RunPlan,
    taken: TakenOver,
    warnings: Vec<Problem>,
    message: Option<String>,
}

/// The whole pipeline, or the requested part with its reused upstream results.
async fn begin(
    planner: &Planner,
    planned: Planned,
    part: Option<&WantedPart>,
    document: &Document,
) -> ApiResult<Begun> {
    let Planned { plan, mut warnings } = planned;
    let Some(wanted) = part else {
        return Ok(Begun { plan, taken: TakenOver::default(), warnings, message: None });
    };
    let mut begun = part::begin(&planner.store, &planner.folders, plan, wanted).await?;
    document.locate(&mut begun.warnings);
    warnings.append(&mut begun.warnings);
    Ok(Begun { plan: begun.plan, taken: begun.taken, warnings, message: Some(begun.message) })
}

impl From<PartError> for ApiError {
    fn from(error: PartError) -> Self {
        match error {
            PartError::Refused { path, message } => Self::field(path, message),
            PartError::Store(error) => error.into(),
        }
    }
}

fn refused(error: StoreError) -> ApiError {
    match error {
        StoreError::NoSuchProject(project) => ApiError::not_found("project", project),
        other => other.into(),
    }
}

/// Text of the document, digest of its code folder, and version.
///
/// # Errors
/// The pipeline or version does not exist.
pub(crate) async fn read(
    planner: &Planner,
    project: &str,
    source: Source,
) -> ApiResult<(String, Option<String>, Option<u32>)> {
    match source {
        Source::Stored { pipeline, version } => {
            let stored = stored(planner, project, &pipeline, version).await?;
            Ok((stored.document, stored.code, Some(stored.version)))
        }
        Source::Document { text, code } => {
            check_code(planner, project, code.as_deref())?;
            Ok((text, code, None))
        }
    }
}

/// The requested version of a pipeline that is not deleted.
async fn stored(
    planner: &Planner,
    project: &str,
    name: &str,
    version: Option<u32>,
) -> ApiResult<PipelineVersion> {
    let newest = planner.store.newest(project, name).await?;
    let newest =
        newest.ok_or_else(|| ApiError::field("/pipeline", format!("there is no pipeline `{name}` here")))?;
    let Some(version) = version.filter(|version| *version != newest.version) else { return Ok(newest) };
    let found = planner.store.pipeline(project, name, version).await?;
    found.ok_or_else(|| {
        let message = format!("the pipeline `{name}` has versions 1 to {}, not {version}", newest.version);
        ApiError::field("/version", message)
    })
}

/// Checks that the uploaded code folder with this digest exists.
fn check_code(planner: &Planner, project: &str, code: Option<&str>) -> ApiResult<()> {
    let Some(digest) = code else { return Ok(()) };
    if code::renew(&planner.folders, project, digest) {
        return Ok(());
    }
    Err(ApiError::field(
        "/code",
        "the project has no such folder: upload it first, and send the digest that you get",
    ))
}
