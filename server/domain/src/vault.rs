//! The port to secrets: executors ask for them by name when a worker starts.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};

use crate::executor::BoxFuture;
use crate::ids::AttemptKey;
use crate::job::Job;

/// The attempt that a secret is given to.
#[derive(Clone, Copy, Debug)]
pub struct Consumer<'a> {
    /// Attempt.
    pub key: &'a AttemptKey,
    /// Project.
    pub project: &'a str,
    /// User that it runs for.
    pub user: &'a str,
}

impl<'a> From<&'a Job> for Consumer<'a> {
    fn from(job: &'a Job) -> Self {
        Self { key: &job.key, project: &job.project, user: &job.user }
    }
}

/// Where the secrets of projects and people are. What is given out is noted in the audit log.
pub trait Vault: Debug + Send + Sync {
    /// The value of the secret that an attempt means by `name`; `None` when neither its person nor its project has one.
    /// It is asked for when workers are started, and is not kept, nor written down.
    ///
    /// # Errors
    /// A sentence that names the secret, never its value.
    fn secret<'a>(
        &'a self,
        consumer: Consumer<'a>,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, String>>;

    /// Notes that an attempt is given a secret that the vault does not hold: one of the server's configuration.
    ///
    /// # Errors
    /// A sentence that names the secret.
    fn note<'a>(&'a self, consumer: Consumer<'a>, name: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// The account by which a project pulls images from a registry; `None` when it has none there. Asked for and kept as
    /// secrets are.
    ///
    /// # Errors
    /// A sentence that names the registry, never the password.
    fn login<'a>(
        &'a self,
        consumer: Consumer<'a>,
        host: &'a str,
    ) -> BoxFuture<'a, Result<Option<Login>, String>>;
}

/// The values of the secrets that a job names, by name; without a vault there are none.
///
/// # Errors
/// A sentence: there is one of them no more, or the vault does not give it.
pub async fn secrets_of(vault: Option<&dyn Vault>, job: &Job) -> Result<BTreeMap<String, String>, String> {
    let mut values = BTreeMap::new();
    for mount in &job.secrets {
        let value = match vault {
            Some(vault) => vault.secret(job.into(), &mount.name).await?,
            None => None,
        };
        let value = value
            .ok_or_else(|| format!("there is no secret `{}` any more: add it to the project", mount.name))?;
        values.insert(mount.name.clone(), value);
    }
    Ok(values)
}

/// An account at a registry of images.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// Its name there.
    pub user: String,
    /// Its password.
    pub password: String,
}

impl Debug for Login {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}
