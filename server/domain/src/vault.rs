//! The port to secrets: executors request them by name when a worker starts.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};

use crate::executor::BoxFuture;
use crate::ids::AttemptKey;
use crate::job::Job;

/// The attempt that a secret is for.
#[derive(Clone, Copy, Debug)]
pub struct Consumer<'a> {
    pub key: &'a AttemptKey,
    pub project: &'a str,
    /// The user that it runs as.
    pub user: &'a str,
}

impl<'a> From<&'a Job> for Consumer<'a> {
    fn from(job: &'a Job) -> Self {
        Self { key: &job.key, project: &job.project, user: &job.user }
    }
}

/// The store of projects' and users' secrets. Every access is recorded in the audit log.
pub trait Vault: Debug + Send + Sync {
    /// The value of the secret that an attempt refers to by `name`. `None` when neither its user nor its
    /// project has one. It is requested when workers start, and neither kept nor stored.
    ///
    /// # Errors
    /// A sentence that names the secret, never its value.
    fn secret<'a>(
        &'a self,
        consumer: Consumer<'a>,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, String>>;

    /// Records that an attempt gets a secret from outside the vault: one of the server's configuration.
    ///
    /// # Errors
    /// A sentence that names the secret.
    fn note<'a>(&'a self, consumer: Consumer<'a>, name: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// The account with which a project pulls images from a registry. `None` when it has none there.
    /// Requested and handled like secrets.
    ///
    /// # Errors
    /// A sentence that names the registry, never the password.
    fn login<'a>(
        &'a self,
        consumer: Consumer<'a>,
        host: &'a str,
    ) -> BoxFuture<'a, Result<Option<Login>, String>>;
}

/// The values of the secrets that a job names, by name. Empty without a vault.
///
/// # Errors
/// A sentence: one of them no longer exists, or the vault rejects the request.
pub async fn secrets_of(vault: Option<&dyn Vault>, job: &Job) -> Result<BTreeMap<String, String>, String> {
    let mut values = BTreeMap::new();
    for mount in &job.secrets {
        let value = match vault {
            Some(vault) => vault.secret(job.into(), &mount.name).await?,
            None => None,
        };
        let value = value
            .ok_or_else(|| format!("the secret `{}` no longer exists: add it to the project", mount.name))?;
        values.insert(mount.name.clone(), value);
    }
    Ok(values)
}

/// An account at an image registry.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    pub user: String,
    pub password: String,
}

impl Debug for Login {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}
