//! `cubeloom decide RUN TASK yes|no`

use cubeloom_domain::approval::Decision;
use cubeloom_domain::record::Wish;

use super::rerun::wish;
use crate::cli::{Answer, Decide};
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::machine;
use crate::platform::Platform;
use crate::show::Output;

/// Approves or rejects a task that waits for approval. Any user with access to this machine's data may
/// decide.
pub async fn decide(args: Decide, config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    let run = platform.find_run(&args.run).await?;
    let plan = platform.store.plan(&run).await?;
    let task = plan.as_ref().and_then(|plan| plan.find(&args.task));
    let task = task.ok_or_else(|| Invalid::error(format!("run {run} has no task `{}`", args.task)))?;
    let record = platform.store.instance(&run, task, args.instance).await?;
    if record.is_none_or(|record| record.state.question().is_none()) {
        return Err(Invalid::error(format!("the task `{}` does not wait for a decision", args.task)));
    }
    let decision =
        Decision { approved: args.answer == Answer::Yes, by: machine::user(), comment: args.comment };
    let decided = Wish::Decide { task: args.task, instance: args.instance, decision };
    wish(&platform, &run, &decided, &args.follow, output).await
}
