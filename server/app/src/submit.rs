//! From a pipeline's file to a stored run: copies its folder, plans it, and stores pipeline and run.

use std::path::Path;
use std::sync::Arc;

use cubeloom_compiler::Document;
use cubeloom_domain::executor::Facts;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::{RunRecord, TakenOver};
use cubeloom_domain::state::RunState;
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{JsonMap, Problem, RunId};
use cubeloom_storage::snapshot::{self, Limits, Snapshot};
use cubeloom_store::{Expected, NewVersion, PutPipeline};
use cubeloom_web::code;
use cubeloom_web::part::{self, PartError, WantedPart};
use cubeloom_web::sub_runs;
use serde_json::json;
use tokio::sync::watch;

use crate::audit;
use crate::exit::{self, Invalid};
use crate::planning::{self, Inputs, Source};
use crate::platform::{PROJECT, Platform};

pub struct Submitted {
    /// The run, pending for the engine.
    pub run: RunId,
    /// Warnings about the document.
    pub warnings: Vec<Problem>,
}

/// The inputs of a run besides the platform.
pub struct Request<'a> {
    pub source: &'a Source,
    pub document: &'a Document,
    pub parameters: JsonMap,
    /// The tasks to run, if not all.
    pub part: Option<WantedPart>,
}

/// Stores the pipeline and a run of it.
///
/// # Errors
/// Outer: errors of this machine or the database. Inner: all problems of the document.
pub async fn submit(
    platform: &Platform,
    request: Request<'_>,
    templates: TemplateSet,
    facts: Facts,
) -> anyhow::Result<Result<Submitted, Vec<Problem>>> {
    let code = keep_folder(platform, &request.source.file)?;
    let context = planning::context(platform.now(), Some(code))?;
    let inputs = Inputs { context, parameters: request.parameters.clone(), templates, facts };
    let planned = match inputs.plan(request.document) {
        Ok(planned) => planned,
        Err(problems) => return Ok(Err(problems)),
    };
    let (plan, mut warnings) = (planned.plan, planned.warnings);
    let mut wrong = code::missing(&platform.folders(), &plan);
    if wrong.is_empty() {
        let planner = platform.planner(watch::channel(Arc::new(inputs.templates)).1)?;
        wrong = sub_runs::problems(&planner, &plan).await.map_err(exit::refused)?;
    }
    if !wrong.is_empty() {
        request.document.locate(&mut wrong);
        return Ok(Err(wrong));
    }
    let (plan, taken, message) = match &request.part {
        None => (plan, TakenOver::default(), None),
        Some(wanted) => {
            let begun = part::begin(&platform.store, &platform.folders(), plan, wanted).await;
            let mut begun = begun.map_err(refused)?;
            request.document.locate(&mut begun.warnings);
            warnings.append(&mut begun.warnings);
            (begun.plan, begun.taken, Some(begun.message))
        }
    };
    store(platform, &request, &plan, &taken, message).await?;
    Ok(Ok(Submitted { run: plan.context.id, warnings }))
}

fn refused(error: PartError) -> anyhow::Error {
    match error {
        PartError::Refused { message, .. } => Invalid::error(message),
        PartError::Store(error) => error.into(),
    }
}

/// Stores a copy of the file's folder, and returns its digest.
fn keep_folder(platform: &Platform, file: &Path) -> anyhow::Result<String> {
    let snapshot = Snapshot::take(&snapshot::folder_of(file)?, Limits::CODE)?;
    code::keep(&platform.folders(), PROJECT, &snapshot)?;
    Ok(snapshot.digest)
}

/// Stores the document as a version of its pipeline, and a run of that.
async fn store(
    platform: &Platform,
    request: &Request<'_>,
    plan: &RunPlan,
    taken: &TakenOver,
    message: Option<String>,
) -> anyhow::Result<()> {
    let version = store_version(platform, request, plan).await?;
    let record = RunRecord {
        id: plan.context.id.clone(),
        project: PROJECT.into(),
        pipeline: request.document.pipeline.name.clone(),
        user: plan.context.user.clone(),
        state: RunState::Queued,
        created_at: platform.now(),
        started_at: None,
        ended_at: None,
        tasks: u32::try_from(plan.tasks.len()).unwrap_or(u32::MAX),
        message,
        version: Some(version),
        parameters: request.parameters.clone(),
        acting: None,
        parent: None,
        cause: Default::default(),
    };
    let about = json!({ "pipeline": record.pipeline, "version": version, "part": plan.part });
    let audit = audit::entry(platform, "run.create", record.id.as_str(), Some(about))?;
    Ok(platform.store.create_run_with(&record, plan, taken, Some(&audit)).await?)
}

async fn store_version(platform: &Platform, request: &Request<'_>, plan: &RunPlan) -> anyhow::Result<u32> {
    let (source, pipeline) = (request.source, &request.document.pipeline);
    let labels = pipeline.labels.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
    let new = NewVersion {
        project: PROJECT.into(),
        name: pipeline.name.clone(),
        document: source.text.clone(),
        digest: snapshot::text_digest(&source.text),
        code: plan.context.code.clone(),
        message: String::new(),
        description: pipeline.description.clone().unwrap_or_default(),
        labels: labels.collect(),
        user: plan.context.user.clone(),
        now: platform.now(),
    };
    let audit = audit::entry(platform, "pipeline.update", &new.name, None)?;
    match platform.store.put_pipeline(&new, Expected::Any, &audit).await? {
        PutPipeline::Stored(version) | PutPipeline::Same(version) => Ok(version),
        // Any version was expected, so the missing one is the project.
        PutPipeline::Stale(_) | PutPipeline::Exists | PutPipeline::Missing => Err(Invalid::error(format!(
            "the project `{PROJECT}`, which the command line works in, was deleted: create it again"
        ))),
    }
}
