//! Access to a cluster, and the accounts that its jobs run as.

use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::executor::BoxFuture;
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::slurm::{SlurmCalls, SlurmFacts, SlurmMirror, SlurmWay};
use cubeloom_domain::vault::Vault;

/// Returns the users with access to a project of this name, or a sentence why they are unknown at present.
pub type PeopleOf = dyn Fn(String) -> BoxFuture<'static, Result<BTreeSet<String>, String>> + Send + Sync;

/// A cluster, as configured by an administrator.
#[derive(Clone)]
pub struct SlurmConfig {
    pub name: String,
    /// The configured facts. `{project}` is replaced by a project's name.
    pub facts: SlurmFacts,
    /// The accounts that its jobs run as.
    pub way: SlurmWay,
    /// Whether and how quotas are mirrored into its accounts.
    pub mirror: Option<SlurmMirror>,
    /// The users with access to a project: others are removed from its account. `None` removes no one.
    pub people: Option<Arc<PeopleOf>>,
    /// How to call Slurm, from the server's own settings.
    pub calls: SlurmCalls,
    /// The server's data folder.
    pub data: PathBuf,
    /// Copies of pipelines' folders, one per digest.
    pub code: PathBuf,
    /// Secrets of projects and users.
    pub vault: Option<Arc<dyn Vault>>,
    /// Poll interval of all jobs together, and of their folders.
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
    /// The cluster account that jobs run as. It is the user's, or the project's for anything that acts for no
    /// user (a schedule, a hook, a token of a project). Such a name contains `:`, which no user name does.
    ///
    /// # Errors
    /// There is none: their jobs cannot start.
    pub fn account(&self, project: &str, person: &str) -> Result<String, Failure> {
        let found = if person.contains(':') {
            self.way.projects.get(project).cloned().ok_or_else(|| {
                format!(
                    "`{person}` is not a user, and the project `{project}` has no account on the cluster `{}`: ask an administrator to add one to its `projects`",
                    self.name
                )
            })
        } else {
            self.way.account_of(person).map(|(_, account)| account).ok_or_else(|| {
                format!(
                    "`{person}` has no account on the cluster `{}`: ask an administrator to add one to its `accounts`",
                    self.name
                )
            })
        };
        found.map_err(|message| Failure::new(FailureKind::CouldNotStart, message))
    }
}
