//! How a cluster is reached, and as whom its jobs run.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::slurm::{SlurmFacts, SlurmWay};
use cubeloom_domain::vault::Vault;

/// A cluster, as an administrator describes it.
#[derive(Clone)]
pub struct SlurmConfig {
    /// Its name.
    pub name: String,
    /// What is there. `{project}` stands for a project's name.
    pub facts: SlurmFacts,
    /// How its commands are called, and as whom.
    pub way: SlurmWay,
    /// The server's data folder.
    pub data: PathBuf,
    /// Copies of pipelines' folders, one a digest.
    pub code: PathBuf,
    /// Where the secrets of projects and people are.
    pub vault: Option<Arc<dyn Vault>>,
    /// How often the cluster is asked about all jobs together; their folders are looked at as often.
    pub every: Duration,
}

impl Debug for SlurmConfig {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlurmConfig")
            .field("name", &self.name)
            .field("way", &self.way)
            .finish_non_exhaustive()
    }
}

impl SlurmConfig {
    /// The account of the cluster that a person's jobs run as.
    ///
    /// # Errors
    /// The person has none: their jobs cannot start.
    pub fn account(&self, person: &str) -> Result<String, Failure> {
        let accounts: &BTreeMap<String, String> = &self.way.accounts;
        accounts.get(person).cloned().ok_or_else(|| {
            let message = format!(
                "`{person}` has no account on the cluster `{}`: an administrator adds one to its `accounts`",
                self.name
            );
            Failure::new(FailureKind::CouldNotStart, message)
        })
    }
}
