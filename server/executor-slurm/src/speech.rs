//! How Slurm is spoken to: by its commands, or, where the settings name it, by slurmrestd. What slurmrestd has nothing for stays
//! with the commands: accounting, accounts, and the files of people.

use std::sync::Arc;

use cubeloom_domain::Clock;
use cubeloom_domain::slurm::SlurmCalls;

use crate::commands::{Commands, Trouble};
use crate::nodes::{self, SeenNode};
use crate::rest::Rest;
use crate::seen::{self, SeenJob};

/// A job that is submitted.
pub struct Given<'a> {
    /// Where its script is.
    pub script: &'a str,
    /// What it says.
    pub text: &'a str,
    /// The account of Slurm that it is counted for, over the script's.
    pub counted_as: Option<&'a str>,
}

/// What is asked of Slurm, and how.
pub enum Speech {
    /// By commands on this machine.
    Commands(Commands),
    /// By slurmrestd.
    Rest(Rest),
}

impl Speech {
    /// As the settings of a cluster say.
    pub fn new(cluster: &str, calls: &SlurmCalls, clock: Arc<dyn Clock>) -> Self {
        let commands = Commands::new(calls.clone());
        match &calls.slurmrestd {
            Some(settings) => {
                let variables = commands.variables().map(|(name, value)| (name.to_owned(), value)).collect();
                Self::Rest(Rest::new(cluster, settings.clone(), variables, clock))
            }
            None => Self::Commands(commands),
        }
    }

    /// All jobs that the controller knows, also those that ended lately.
    pub async fn jobs(&self) -> Result<Vec<SeenJob>, Trouble> {
        match self {
            Self::Commands(commands) => Ok(seen::lines(&commands.squeue().await?)),
            Self::Rest(rest) => rest.jobs().await,
        }
    }

    /// The nodes.
    pub async fn nodes(&self) -> Result<Vec<SeenNode>, Trouble> {
        match self {
            Self::Commands(commands) => Ok(nodes::lines(&commands.nodes().await?)),
            Self::Rest(rest) => rest.nodes().await,
        }
    }

    /// The version, as `slurm 22.05.8`.
    pub async fn version(&self) -> Result<String, Trouble> {
        match self {
            Self::Commands(commands) => commands.version().await,
            Self::Rest(rest) => rest.version().await,
        }
    }

    /// Submits a script as an account; the id of its job.
    pub async fn submit(&self, account: &str, job: &Given<'_>) -> Result<String, Trouble> {
        match self {
            Self::Commands(commands) => {
                // What is said here goes over what the script says: the account that the facts name.
                let options: Vec<String> =
                    job.counted_as.iter().map(|name| format!("--account={name}")).collect();
                commands.sbatch(account, &options, job.script).await
            }
            Self::Rest(rest) => rest.submit(account, job).await,
        }
    }

    /// Ends jobs as the account whose they are, by ids or `--name=...`: TERM, then KILL after Slurm's own `KillWait`; or KILL at
    /// once. What is no job any more has ended.
    pub async fn cancel(&self, account: &str, uid: u32, jobs: &[String], kill: bool) -> Result<(), Trouble> {
        match self {
            Self::Commands(commands) => commands.scancel(account, jobs, kill).await,
            Self::Rest(rest) => rest.cancel(account, uid, jobs, kill).await,
        }
    }
}
