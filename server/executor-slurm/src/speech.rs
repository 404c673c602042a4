//! The Slurm client: through its commands, or through slurmrestd if configured. What slurmrestd does not
//! offer uses the commands: accounting, accounts, and users' files.

use std::sync::Arc;

use cubeloom_domain::Clock;
use cubeloom_domain::slurm::SlurmCalls;

use crate::commands::{Commands, Trouble};
use crate::nodes::{self, SeenNode};
use crate::rest::Rest;
use crate::seen::{self, SeenJob};

/// A job to submit.
pub struct Given<'a> {
    /// The path of its script.
    pub script: &'a str,
    /// The script's text.
    pub text: &'a str,
    /// The Slurm account that it counts for; overrides the script's.
    pub counted_as: Option<&'a str>,
}

/// The Slurm client.
pub enum Speech {
    /// Through commands on this machine.
    Commands(Commands),
    /// Through slurmrestd.
    Rest(Rest),
}

impl Speech {
    /// From the settings of a cluster.
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

    /// All jobs that the controller knows, including recently ended ones.
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

    /// Submits a script as an account; returns the job's id.
    pub async fn submit(&self, account: &str, job: &Given<'_>) -> Result<String, Trouble> {
        match self {
            Self::Commands(commands) => {
                // These options override the script's, which has the account from the facts.
                let options: Vec<String> =
                    job.counted_as.iter().map(|name| format!("--account={name}")).collect();
                commands.sbatch(account, &options, job.script).await
            }
            Self::Rest(rest) => rest.submit(account, job).await,
        }
    }

    /// Cancels jobs as their account, by id or `--name=...`: TERM, then KILL after Slurm's `KillWait`; or
    /// KILL at once. Jobs that no longer exist count as ended.
    pub async fn cancel(&self, account: &str, uid: u32, jobs: &[String], kill: bool) -> Result<(), Trouble> {
        match self {
            Self::Commands(commands) => commands.scancel(account, jobs, kill).await,
            Self::Rest(rest) => rest.cancel(account, uid, jobs, kill).await,
        }
    }
}
