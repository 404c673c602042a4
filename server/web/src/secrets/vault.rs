//! The secrets of the database, as executors ask for them when a worker starts.

use std::collections::BTreeSet;
use std::fmt;

use cubeloom_domain::belongings::Owner;
use cubeloom_domain::executor::BoxFuture;
use cubeloom_domain::vault::{Login, Vault};
use cubeloom_store::{Store, StoreError};

use super::Keyring;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Opens secrets of the database. Nothing is kept: each worker is given what holds when it starts.
#[derive(Clone)]
pub struct StoreVault {
    store: Store,
    keys: Keyring,
}

impl StoreVault {
    /// On this database, with these keys.
    #[must_use]
    pub fn new(store: Store, keys: Keyring) -> Self {
        Self { store, keys }
    }

    async fn find(&self, project: &str, user: &str, name: &str) -> Result<Option<String>, String> {
        let asked = owners(&self.store, project, user).await.map_err(|error| could_not(name, &error))?;
        for owner in asked {
            let found = self.store.secret(&owner, name).await.map_err(|error| could_not(name, &error))?;
            if let Some(secret) = found {
                let opened = self.keys.open(&owner, name, &secret.sealed);
                return opened
                    .map(Some)
                    .map_err(|error| format!("the secret `{name}` cannot be read: {error}"));
            }
        }
        Ok(None)
    }

    async fn account(&self, project: &str, host: &str) -> Result<Option<Login>, String> {
        let could_not =
            |why: &dyn fmt::Display| format!("the account at the registry `{host}` cannot be read: {why}");
        let registries = self.store.registries(project).await.map_err(|error| could_not(&error))?;
        let Some(registry) = registries.into_iter().find(|one| one.host == host && one.has_account()) else {
            return Ok(None);
        };
        let (owner, name) = (Owner::Project(project.into()), registry.secret.unwrap_or_default());
        let secret = self.store.secret(&owner, &name).await.map_err(|error| could_not(&error))?;
        let secret =
            secret.ok_or_else(|| could_not(&format_args!("the project has no secret `{name}` any more")))?;
        let opened = self.keys.open(&owner, &name, &secret.sealed);
        let password = opened.map_err(|error| could_not(&error))?;
        Ok(Some(Login { user: registry.user, password }))
    }
}

fn could_not(name: &str, error: &StoreError) -> String {
    format!("the secret `{name}` cannot be read: {error}")
}

impl fmt::Debug for StoreVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreVault").field("keys", &self.keys).finish_non_exhaustive()
    }
}

impl Vault for StoreVault {
    fn secret<'a>(
        &'a self,
        project: &'a str,
        user: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, String>> {
        Box::pin(self.find(project, user, name))
    }

    fn login<'a>(&'a self, project: &'a str, host: &'a str) -> BoxFuture<'a, Result<Option<Login>, String>> {
        Box::pin(self.account(project, host))
    }
}

/// Whose secrets a run may use, the first first: the person's own go over the project's.
async fn owners(store: &Store, project: &str, user: &str) -> Result<Vec<Owner>, StoreError> {
    let own = store.user_by_name(user).await?.filter(|user| !user.disabled);
    let own = own.map(|user| Owner::User(user.id));
    Ok(own.into_iter().chain([Owner::Project(project.into())]).collect())
}

/// The names of the secrets that a run of `user` in `project` may use.
///
/// # Errors
/// When the database does not answer.
pub async fn names(store: &Store, project: &str, user: &str) -> Result<BTreeSet<String>, StoreError> {
    let mut names = BTreeSet::new();
    for owner in owners(store, project, user).await? {
        names.extend(store.secrets(&owner).await?.into_iter().map(|secret| secret.name));
    }
    Ok(names)
}

/// The value of a project's secret, for what the server itself does in the project's name.
///
/// # Errors
/// When there is none, or it does not open.
pub(crate) async fn of_project(web: &Web, project: &str, name: &str) -> ApiResult<String> {
    let owner = Owner::Project(project.into());
    let missing = || ApiError::conflict(format!("the project has no secret `{name}` any more: add it again"));
    let secret = web.store().secret(&owner, name).await?.ok_or_else(missing)?;
    let opened = web.keys().sealing.open(&owner, name, &secret.sealed);
    opened.map_err(|error| ApiError::conflict(format!("the secret `{name}` cannot be read: {error}")))
}
