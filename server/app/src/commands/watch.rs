//! `cubeloom watch RUN`

use crate::cli::{Following, Watch};
use crate::config::Config;
use crate::exit::Exit;
use crate::platform::Platform;
use crate::show::Output;

use super::await_run::await_run;

/// Follows a run to its end.
pub async fn watch(args: &Watch, config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    let run = platform.find_run(&args.run).await?;
    let follow = Following { watch: true, junit: args.junit.clone(), ..Following::default() };
    await_run(&platform, &run, &follow, output).await
}
