//! Starting a run: from a stored pipeline, or from a document that comes along.

use cubeloom_compiler::{Document, Planned};
use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::{RunRecord, TakenOver};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{JsonMap, Problem};
use cubeloom_store::{PipelineVersion, StoreError};
use serde_json::json;

use crate::code;
use crate::error::{ApiError, ApiResult};
use crate::part::{self, PartError, WantedPart};
use crate::plan::{self, Order};
use crate::state::Web;

/// A run that somebody wants.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// In which project.
    pub project: String,
    /// Whose it will be, by name.
    pub user: String,
    /// What its tasks are told as who started it, and whose own secrets they may use: the person, or a word that no
    /// account can have. What a hook starts, every editor may change; its maker's secrets are not theirs.
    pub acting: String,
    /// Of what.
    pub source: Source,
    /// The parameters that were given; texts are read by the declared types.
    pub parameters: JsonMap,
    /// Which tasks, when not all.
    pub part: Option<WantedPart>,
}

/// What a run is made from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A stored pipeline, in this version or its newest.
    Stored {
        /// Its name.
        pipeline: String,
        /// Its version.
        version: Option<u32>,
    },
    /// A document.
    Document {
        /// Its text.
        text: String,
        /// The digest of a folder that was uploaded for it.
        code: Option<String>,
    },
}

/// A run that was stored; the engine knows of it.
#[derive(Clone, Debug)]
pub(crate) struct Started {
    /// The run.
    pub record: RunRecord,
    /// What runs, and probably not as meant.
    pub warnings: Vec<Problem>,
}

/// Plans a run, stores it and wakes the engine. `entry` says who did it; its subject and content are filled in here.
///
/// # Errors
/// Every mistake in the document and its parameters, or what is not there.
pub(crate) async fn start(web: &Web, wanted: Wanted, mut entry: AuditEntry) -> ApiResult<Started> {
    let Wanted { project, user, acting, source, parameters, part } = wanted;
    let (text, code, version) = match source {
        Source::Stored { pipeline, version } => {
            let stored = stored(web, &project, &pipeline, version).await?;
            (stored.document, stored.code, Some(stored.version))
        }
        Source::Document { text, code } => {
            check_code(web, &project, code.as_deref())?;
            (text, code, None)
        }
    };
    let order = Order { project: project.clone(), user: acting, parameters: parameters.clone(), code };
    let (document, planned) = plan::plan(web, text, order).await?;
    let begun = begin(web, planned, part.as_ref(), &document).await?;
    let Begun { plan, taken, warnings, message } = begun;
    let record = RunRecord {
        id: plan.context.id.clone(),
        project: project.clone(),
        pipeline: plan.pipeline.clone(),
        user,
        state: RunState::Queued,
        created_at: plan.context.date,
        started_at: None,
        ended_at: None,
        tasks: u32::try_from(plan.tasks.len()).unwrap_or(u32::MAX),
        message,
        version,
        parameters,
        acting: None,
    };
    entry.subject = record.id.to_string();
    entry.project = Some(project);
    let (pipeline, parameters) = (&record.pipeline, &record.parameters);
    entry.after =
        Some(json!({"pipeline": pipeline, "version": version, "parameters": parameters, "part": plan.part}));
    web.store().create_run_with(&record, &plan, &taken, Some(&entry)).await.map_err(refused)?;
    web.wake();
    web.live().touched(&record.id);
    Ok(Started { record, warnings })
}

/// What a run begins with.
struct Begun {
    plan: RunPlan,
    taken: TakenOver,
    warnings: Vec<Problem>,
    message: Option<String>,
}

/// The whole pipeline, or the part of it that is wanted with what it takes over.
async fn begin(
    web: &Web,
    planned: Planned,
    part: Option<&WantedPart>,
    document: &Document,
) -> ApiResult<Begun> {
    let Planned { plan, mut warnings } = planned;
    let Some(wanted) = part else {
        return Ok(Begun { plan, taken: TakenOver::default(), warnings, message: None });
    };
    let mut begun = part::begin(web.store(), web.folders(), plan, wanted).await?;
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

/// The version that is meant, of a pipeline that is not deleted.
async fn stored(web: &Web, project: &str, name: &str, version: Option<u32>) -> ApiResult<PipelineVersion> {
    let newest = web.store().newest(project, name).await?;
    let newest =
        newest.ok_or_else(|| ApiError::field("/pipeline", format!("there is no pipeline `{name}` here")))?;
    let Some(version) = version.filter(|version| *version != newest.version) else { return Ok(newest) };
    let found = web.store().pipeline(project, name, version).await?;
    found.ok_or_else(|| {
        let message = format!("the pipeline `{name}` has versions 1 to {}, not {version}", newest.version);
        ApiError::field("/version", message)
    })
}

/// A folder of code is named by its digest and must be here.
fn check_code(web: &Web, project: &str, code: Option<&str>) -> ApiResult<()> {
    let Some(digest) = code else { return Ok(()) };
    if code::renew(web, project, digest) {
        return Ok(());
    }
    Err(ApiError::field(
        "/code",
        "the project has no such folder: upload it first, and send the digest that you get",
    ))
}
