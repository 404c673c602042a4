//! `cubeloom run FILE`

use cubeloom_compiler::Document;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{JsonMap, Problem, RunId};
use cubeloom_storage::snapshot::{self, Limits, Snapshot};
use cubeloom_store::{Expected, NewVersion, PutPipeline};
use serde_json::json;

use crate::cli;
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::lock::EngineLock;
use crate::planning::{self, Inputs, Source};
use crate::platform::{PROJECT, Platform};
use crate::show::{self, Output};
use crate::{audit, problems, wake};

use super::await_run::{Wait, await_run};

/// Checks a pipeline, stores a run of it, and sees to its end.
pub async fn run(args: cli::Run, config: Config, output: Output) -> anyhow::Result<Exit> {
    let source = Source::read(&args.file)?;
    let document = match source.parse() {
        Ok(document) => document,
        Err(found) => return refuse(&source, &found, output),
    };
    let given = planning::parameters(&args.parameters)?;
    let platform = Platform::open(config).await?;
    if args.detach {
        demand_server(&platform)?;
    }
    let snapshot = Snapshot::take(&snapshot::folder_of(&source.file)?, Limits::CODE)?;
    snapshot.keep(&platform.data.code())?;
    let inputs = Inputs {
        context: planning::context(platform.now(), Some(snapshot.digest))?,
        parameters: given.clone(),
        templates: platform.templates().await?,
        facts: platform.facts()?,
    };
    let planned = match inputs.plan(&document) {
        Ok(planned) => planned,
        Err(found) => return refuse(&source, &found, output),
    };
    problems::warn(&source.file, &planned.warnings);
    store(&platform, &source, &document, &planned.plan, given).await?;
    let run = planned.plan.context.id.clone();
    drop(planned);
    announce(&run, &args, output)?;
    if args.detach {
        wake::send(&platform.data.wake());
        return Ok(Exit::Ok);
    }
    await_run(&platform, &run, Wait { watch: args.watch, output }).await
}

fn refuse(source: &Source, found: &[Problem], output: Output) -> anyhow::Result<Exit> {
    problems::print(&source.file, found, output)?;
    Ok(Exit::Invalid)
}

/// Nobody would take a run up that is left alone.
pub fn demand_server(platform: &Platform) -> anyhow::Result<()> {
    match EngineLock::take(&platform.data.lock())? {
        Err(_) => Ok(()),
        Ok(_) => Err(Invalid::error(format!(
            "--detach leaves the run to a server, and none has the data folder {}: start one with `cubeloom serve`, or leave out --detach",
            platform.data.path().display()
        ))),
    }
}

/// Stores the document as a version of its pipeline, and a run of that.
async fn store(
    platform: &Platform,
    source: &Source,
    document: &Document,
    plan: &RunPlan,
    parameters: JsonMap,
) -> anyhow::Result<()> {
    let version = store_version(platform, source, document, plan).await?;
    let record = RunRecord {
        id: plan.context.id.clone(),
        project: PROJECT.into(),
        pipeline: document.pipeline.name.clone(),
        user: plan.context.user.clone(),
        state: RunState::Queued,
        created_at: platform.now(),
        started_at: None,
        ended_at: None,
        tasks: u32::try_from(plan.tasks.len()).unwrap_or(u32::MAX),
        message: None,
        version: Some(version),
        parameters,
    };
    let about = json!({ "pipeline": record.pipeline, "version": version });
    let audit = audit::entry(platform, "run.create", record.id.as_str(), Some(about))?;
    Ok(platform.store.create_run(&record, plan, Some(&audit)).await?)
}

async fn store_version(
    platform: &Platform,
    source: &Source,
    document: &Document,
    plan: &RunPlan,
) -> anyhow::Result<u32> {
    let pipeline = &document.pipeline;
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
        // Any version was expected, so what is missing is the project.
        PutPipeline::Stale(_) | PutPipeline::Exists | PutPipeline::Missing => Err(Invalid::error(format!(
            "the project `{PROJECT}`, which the command line works in, was deleted: create it again"
        ))),
    }
}

/// The run's id, for whoever asks about it later.
fn announce(run: &RunId, args: &cli::Run, output: Output) -> anyhow::Result<()> {
    match output {
        Output::Json if args.detach => show::json(&json!({"run": run})),
        Output::Json => Ok(()),
        Output::Human if args.watch => {
            show::line(format!("run {run}"));
            Ok(())
        }
        Output::Human => {
            show::line(run.as_str());
            Ok(())
        }
    }
}
