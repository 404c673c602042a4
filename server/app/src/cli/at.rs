//! The options that choose a server, or this machine.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::remote::complete;

/// Where a command works.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Server")]
pub struct At {
    /// URL of the server [default: that of the current context; without one, this machine]
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// Context: a server that `cubeloom login` stored
    #[arg(long, value_name = "NAME", conflicts_with = "server", add = ArgValueCompleter::new(complete::names_of_contexts))]
    pub context: Option<String>,
    /// Project [default: that of the context, else `default`]
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::projects))]
    pub project: Option<String>,
    /// Use the data folder of this machine, even if there is a current context
    #[arg(long, conflicts_with_all = ["server", "context"])]
    pub local: bool,
}
