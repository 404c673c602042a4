//! `cubeloom mark RUN TASK succeeded|failed|skipped --reason TEXT`

use cubeloom_domain::mark::{Mark, MarkedAs};
use cubeloom_domain::record::Wish;

use super::rerun::wish;
use crate::cli;
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::machine;
use crate::platform::Platform;
use crate::show::Output;

/// Sets the outcome of a task, so that its run goes on.
pub async fn mark(args: cli::Mark, config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    let run = platform.find_run(&args.run).await?;
    let plan = platform.store.plan(&run).await?;
    let found = plan.as_ref().and_then(|plan| Some((plan.find(&args.task)?, plan)));
    let (task, plan) =
        found.ok_or_else(|| Invalid::error(format!("run {run} has no task `{}`", args.task)))?;
    let has_ended = platform.store.run(&run).await?.is_some_and(|record| record.state.is_final());
    // Tasks that have not started are not stored.
    let has_begun = platform.store.instance(&run, task, args.instance).await?.is_some();
    if !has_begun && (has_ended || plan.task(task).for_each.is_some() || args.instance > 0) {
        let message = format!("instance {} of the task `{}` has not started", args.instance, args.task);
        return Err(Invalid::error(format!("{message}, and cannot be marked yet")));
    }
    let mark = Mark {
        marked_as: match args.outcome {
            cli::MarkedAs::Succeeded => MarkedAs::Succeeded,
            cli::MarkedAs::Failed => MarkedAs::Failed,
            cli::MarkedAs::Skipped => MarkedAs::Skipped,
        },
        by: machine::user(),
        reason: args.reason,
        outputs: cubeloom_domain::JsonMap::new(),
    };
    let marked = Wish::Mark { task: args.task, instance: args.instance, mark };
    wish(&platform, &run, &marked, &args.follow, output).await
}
