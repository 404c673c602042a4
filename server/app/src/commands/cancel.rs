//! `cubeloom cancel RUN`

use cubeloom_domain::record::Wish;

use super::rerun::wish;
use crate::cli::OfRun;
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::platform::Platform;
use crate::show::Output;

/// Cancels a run, and waits until none of its tasks runs any more.
pub async fn cancel(args: &OfRun, config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    let run = platform.find_run(&args.run).await?;
    let record = platform.store.run(&run).await?;
    if let Some(record) = record.filter(|record| record.state.is_final()) {
        return Err(Invalid::error(format!("run {run} has ended already: it {}", record.state.as_str())));
    }
    match wish(&platform, &run, &Wish::Cancel, &args.follow, output).await? {
        // The user requested the cancellation, so it is a success.
        Exit::Cancelled => Ok(Exit::Ok),
        other => Ok(other),
    }
}
