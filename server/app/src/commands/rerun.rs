//! `cubeloom resume RUN` and `cubeloom rerun RUN --from TASK`

use cubeloom_domain::RunId;
use cubeloom_domain::record::Wish;
use serde_json::json;

use super::await_run::await_run;
use super::run::demand_server;
use crate::cli::{Following, OfRun, Rerun};
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::platform::Platform;
use crate::show::{self, Output};
use crate::{audit, machine, wake};

/// Reruns failed tasks.
pub async fn resume(args: &OfRun, config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    let run = ended(&platform, &args.run).await?;
    wish(&platform, &run, &Wish::Resume, &args.follow, output).await
}

/// Reruns chosen tasks and everything downstream.
pub async fn rerun(args: &Rerun, config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    let run = ended(&platform, &args.run).await?;
    let plan = platform.store.plan(&run).await?;
    let plan = plan.ok_or_else(|| Invalid::error(format!("run {run} has no plan")))?;
    if let Some(unknown) = args.from.iter().find(|name| plan.find(name).is_none()) {
        let names: Vec<&str> = plan.tasks.iter().take(20).map(|task| task.name.as_str()).collect();
        return Err(Invalid::error(format!(
            "run {run} has no task `{unknown}`; it has: {}",
            names.join(", ")
        )));
    }
    wish(&platform, &run, &Wish::Rerun { from: args.from.clone() }, &args.follow, output).await
}

/// The run, if it has ended: an active run cannot be rerun.
async fn ended(platform: &Platform, text: &str) -> anyhow::Result<RunId> {
    let run = platform.find_run(text).await?;
    match platform.store.run(&run).await? {
        Some(record) if !record.state.is_final() => Err(Invalid::error(format!(
            "run {run} is {}: wait for its end, or stop it with `cubeloom cancel {run}`",
            record.state.as_str()
        ))),
        _ => Ok(run),
    }
}

/// Stores a command and waits for the run's end, unless a server runs it.
pub async fn wish(
    platform: &Platform,
    run: &RunId,
    wish: &Wish,
    follow: &Following,
    output: Output,
) -> anyhow::Result<Exit> {
    if follow.detach {
        demand_server(platform)?;
    }
    let action = match wish {
        Wish::Cancel => "run.cancel",
        Wish::Resume => "run.resume",
        Wish::Rerun { .. } => "run.rerun",
        Wish::Decide { .. } => "task.decide",
        Wish::Mark { .. } => "task.mark",
    };
    let audit = audit::entry(platform, action, run.as_str(), Some(serde_json::to_value(wish)?))?;
    platform.store.add_wish(run, wish, &machine::user(), platform.now(), Some(&audit)).await?;
    if follow.detach {
        wake::send(&platform.data.wake());
        if output == Output::Json {
            show::json(&json!({"run": run}))?;
        }
        return Ok(Exit::Ok);
    }
    await_run(platform, run, follow, output).await
}
