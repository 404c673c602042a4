//! `cubeloom run FILE`

use cubeloom_domain::Problem;
use cubeloom_domain::plan::Choice;
use cubeloom_web::part::WantedPart;
use serde_json::json;

use crate::cli::{self, Following};
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::lock::EngineLock;
use crate::planning::{self, Source};
use crate::platform::Platform;
use crate::show::{self, Output};
use crate::submit::{Request, submit};
use crate::{machine, problems, wake};

use super::await_run::await_run;

/// Validates a pipeline, stores a run of it, and waits for its end.
pub async fn run(args: cli::Run, config: Config, output: Output) -> anyhow::Result<Exit> {
    let source = Source::read(&args.file)?;
    let document = match source.parse() {
        Ok(document) => document,
        Err(found) => return refuse(&source, &found, output),
    };
    let parameters = planning::parameters(&args.parameters)?;
    let platform = Platform::open(config).await?;
    if args.follow.detach {
        demand_server(&platform)?;
    }
    let templates = platform.templates().await?;
    let facts = platform.facts_for(&machine::user()).await?;
    let part = part(&platform, &args).await?;
    let request = Request { source: &source, document: &document, parameters, part };
    let submitted = match submit(&platform, request, templates, facts).await? {
        Ok(submitted) => submitted,
        Err(found) => return refuse(&source, &found, output),
    };
    problems::warn(&source.file, &submitted.warnings);
    let run = submitted.run;
    announce(run.as_str(), &args.follow, output)?;
    if args.follow.detach {
        wake::send(&platform.data.wake());
        return Ok(Exit::Ok);
    }
    await_run(&platform, &run, &args.follow, output).await
}

/// The selected tasks, if not all.
async fn part(platform: &Platform, args: &cli::Run) -> anyhow::Result<Option<WantedPart>> {
    let only = args.only.clone().map(Choice::Only);
    let Some(choice) = only.or_else(|| args.from.clone().map(Choice::From)) else {
        return match args.of {
            Some(_) => Err(Invalid::error("--of needs a partial run: add --from or --only")),
            None => Ok(None),
        };
    };
    let of = match &args.of {
        Some(text) => Some(platform.find_run(text).await?),
        None => None,
    };
    Ok(Some(WantedPart { choice: Some(choice), of }))
}

fn refuse(source: &Source, found: &[Problem], output: Output) -> anyhow::Result<Exit> {
    problems::print(&source.file, found, output)?;
    Ok(Exit::Invalid)
}

/// Without a server, a detached run would never start.
pub fn demand_server(platform: &Platform) -> anyhow::Result<()> {
    match EngineLock::take(&platform.data.lock())? {
        Err(_) => Ok(()),
        Ok(_) => Err(Invalid::error(format!(
            "--detach needs a server on the data folder {}: start one with `cubeloom serve`, or remove --detach",
            platform.data.path().display()
        ))),
    }
}

/// Prints the run's id for later commands.
pub fn announce(run: &str, follow: &Following, output: Output) -> anyhow::Result<()> {
    match output {
        Output::Json if follow.detach => show::json(&json!({"run": run})),
        Output::Json => Ok(()),
        Output::Human if follow.watch => {
            show::line(format!("run {run}"));
            Ok(())
        }
        Output::Human => {
            show::line(run);
            Ok(())
        }
    }
}
