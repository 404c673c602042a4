//! `cubeloom run FILE`

use cubeloom_domain::{Problem, RunId};
use serde_json::json;

use crate::cli;
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::lock::EngineLock;
use crate::planning::{self, Source};
use crate::platform::Platform;
use crate::show::{self, Output};
use crate::submit::{Request, submit};
use crate::{machine, problems, wake};

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
    let templates = platform.templates().await?;
    let facts = platform.facts_for(&machine::user()).await?;
    let request = Request { source: &source, document: &document, parameters };
    let submitted = match submit(&platform, request, templates, facts).await? {
        Ok(submitted) => submitted,
        Err(found) => return refuse(&source, &found, output),
    };
    problems::warn(&source.file, &submitted.warnings);
    let run = submitted.run;
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
