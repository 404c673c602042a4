//! `cubeloom run FILE`

use cubeloom_compiler::Document;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{Problem, RunId};
use cubeloom_storage::snapshot::{self, Limits, Snapshot};
use serde_json::json;

use crate::cli;
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::lock::EngineLock;
use crate::planning::{self, Inputs, Source};
use crate::platform::{PROJECT, Platform};
use crate::show::{self, Output};
use crate::{problems, wake};

use super::await_run::{Wait, await_run};

/// Checks a pipeline, stores a run of it, and sees to its end.
pub async fn run(args: cli::Run, config: Config, output: Output) -> anyhow::Result<Exit> {
    let source = Source::read(&args.file)?;
    let document = match source.parse() {
        Ok(document) => document,
        Err(found) => return refuse(&source, &found, output),
    };
    let parameters = planning::parameters(&args.parameters)?;
    let platform = Platform::open(config).await?;
    if args.detach {
        demand_server(&platform)?;
    }
    let snapshot = Snapshot::take(&snapshot::folder_of(&source.file)?, Limits::CODE)?;
    snapshot.keep(&platform.data.code())?;
    let inputs = Inputs {
        context: planning::context(platform.now(), Some(snapshot.digest))?,
        parameters,
        templates: platform.templates().await?,
        facts: platform.facts()?,
    };
    let planned = match inputs.plan(&document) {
        Ok(planned) => planned,
        Err(found) => return refuse(&source, &found, output),
    };
    problems::warn(&source.file, &planned.warnings);
    store(&platform, &source, &document, &planned.plan).await?;
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

async fn store(
    platform: &Platform,
    source: &Source,
    document: &Document,
    plan: &cubeloom_domain::plan::RunPlan,
) -> anyhow::Result<()> {
    let (now, name) = (platform.now(), &document.pipeline.name);
    let user = plan.context.user.clone();
    let digest = snapshot::text_digest(&source.text);
    platform.store.put_pipeline(PROJECT, name, &source.text, &digest, &user, now).await?;
    let record = RunRecord {
        id: plan.context.id.clone(),
        project: PROJECT.into(),
        pipeline: name.clone(),
        user,
        state: RunState::Queued,
        created_at: now,
        started_at: None,
        ended_at: None,
        tasks: u32::try_from(plan.tasks.len()).unwrap_or(u32::MAX),
        message: None,
    };
    Ok(platform.store.create_run(&record, plan).await?)
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
