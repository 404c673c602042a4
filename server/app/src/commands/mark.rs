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
    if plan.as_ref().and_then(|plan| plan.find(&args.task)).is_none() {
        return Err(Invalid::error(format!("run {run} has no task `{}`", args.task)));
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
    wish(&platform, &run, &marked, args.follow, output).await
}
