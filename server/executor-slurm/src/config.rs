//! How a cluster is reached, and as whom its jobs run.

use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::executor::BoxFuture;
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::slurm::{SlurmCalls, SlurmFacts, SlurmMirror, SlurmWay};
use cubeloom_domain::vault::Vault;

/// The names of those who may act in the project of a name, or a sentence why that is not known now.
pub type PeopleOf = dyn Fn(String) -> BoxFuture<'static, Result<BTreeSet<String>, String>> + Send + Sync;

/// A cluster, as an administrator describes it.
#[derive(Clone)]
pub struct SlurmConfig {
    /// Name.
    pub name: String,
    /// What is there. `{project}` stands for a project's name.
    pub facts: SlurmFacts,
    /// As whom its jobs run.
    pub way: SlurmWay,
    /// Whether, and how, quotas are kept as its accounts.
    pub mirror: Option<SlurmMirror>,
    /// Who may act in a project: others are taken out of its account. Without it nobody is.
    pub people: Option<Arc<PeopleOf>>,
    /// How its commands are called, as the server's own settings say.
    pub calls: SlurmCalls,
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
    /// The account of the cluster that jobs run as: a person's, or, of what acts for none (a schedule, a hook, a token of a
    /// project), the project's. Such a word has a `:`, which no person's name has.
    ///
    /// # Errors
    /// There is none: their jobs cannot start.
    pub fn account(&self, project: &str, person: &str) -> Result<String, Failure> {
        let found = if person.contains(':') {
            self.way.projects.get(project).cloned().ok_or_else(|| {
                format!(
                    "`{person}` acts for no person, and the project `{project}` has no account on the cluster `{}`: an administrator adds one to its `projects`",
                    self.name
                )
            })
        } else {
            self.way.account_of(person).map(|(_, account)| account).ok_or_else(|| {
                format!(
                    "`{person}` has no account on the cluster `{}`: an administrator adds one to its `accounts`",
                    self.name
                )
            })
        };
        found.map_err(|message| Failure::new(FailureKind::CouldNotStart, message))
    }
}
