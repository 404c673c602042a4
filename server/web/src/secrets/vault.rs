//! Secrets in the database, for executors that start workers.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cubeloom_domain::belongings::Owner;
use cubeloom_domain::executor::BoxFuture;
use cubeloom_domain::vault::{Consumer, Login, Vault};
use cubeloom_domain::{Clock, RunId};
use cubeloom_store::{Store, StoreError};
use serde_json::{Value, json};

use super::Keyring;
use crate::audit::{Act, Actor};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Maximum number of remembered audit entries, so that the database is not queried for each attempt.
const REMEMBERED: usize = 10_000;

/// Decrypts secrets of the database. Values are not cached: each worker gets the current one. The audit log
/// records the use once per run and user.
#[derive(Clone)]
pub struct StoreVault {
    store: Store,
    keys: Keyring,
    clock: Arc<dyn Clock>,
    noted: Arc<Mutex<HashSet<(RunId, String, String)>>>,
}

impl StoreVault {
    #[must_use]
    pub fn new(store: Store, keys: Keyring, clock: Arc<dyn Clock>) -> Self {
        Self { store, keys, clock, noted: Arc::default() }
    }

    async fn find(&self, consumer: Consumer<'_>, name: &str) -> Result<Option<String>, String> {
        let asked = owners(&self.store, consumer.project, consumer.user).await;
        for owner in asked.map_err(|error| could_not(name, &error))? {
            let found = self.store.secret(&owner, name).await.map_err(|error| could_not(name, &error))?;
            if let Some(secret) = found {
                let opened = self.keys.open(&owner, name, &secret.sealed);
                let value = opened.map_err(|error| format!("the secret `{name}` cannot be read: {error}"))?;
                let of = if matches!(owner, Owner::User(_)) { "user" } else { "project" };
                self.noted(consumer, name, json!({"of": of})).await?;
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Records the use of a secret. `what` has details. Without the record, the secret is not released.
    async fn noted(&self, consumer: Consumer<'_>, name: &str, mut what: Value) -> Result<(), String> {
        let run = &consumer.key.run;
        let of_run = (run.clone(), consumer.user.to_owned(), name.to_owned());
        if self.noted.lock().unwrap_or_else(PoisonError::into_inner).contains(&of_run) {
            return Ok(());
        }
        let user = self.store.user_by_name(consumer.user).await.map_err(|error| could_not(name, &error))?;
        let actor = Actor {
            user_id: user.map(|user| user.id),
            user_name: consumer.user.into(),
            via: "run".into(),
            address: String::new(),
            project: Some(consumer.project.into()),
        };
        what["run"] = run.as_str().into();
        what["task"] = consumer.key.task.as_str().into();
        let act = Act { store: &self.store, now: self.clock.now(), actor };
        let entry = act.entry("secret.use", name).after(what);
        self.store.note_secret_use(run, &entry).await.map_err(|error| could_not(name, &error))?;
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() >= REMEMBERED {
            noted.clear();
        }
        noted.insert(of_run);
        Ok(())
    }

    async fn account(&self, consumer: Consumer<'_>, host: &str) -> Result<Option<Login>, String> {
        let project = consumer.project;
        let could_not =
            |why: &dyn fmt::Display| format!("the account at the registry `{host}` cannot be read: {why}");
        let registries = self.store.registries(project).await.map_err(|error| could_not(&error))?;
        let Some(registry) = registries.into_iter().find(|one| one.host == host && one.has_account()) else {
            return Ok(None);
        };
        let (owner, name) = (Owner::Project(project.into()), registry.secret.unwrap_or_default());
        let secret = self.store.secret(&owner, &name).await.map_err(|error| could_not(&error))?;
        let secret = secret
            .ok_or_else(|| could_not(&format_args!("the project no longer has the secret `{name}`")))?;
        let opened = self.keys.open(&owner, &name, &secret.sealed);
        let password = opened.map_err(|error| could_not(&error))?;
        self.noted(consumer, &name, json!({"of": "project", "registry": host})).await?;
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
        consumer: Consumer<'a>,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, String>> {
        Box::pin(self.find(consumer, name))
    }

    fn note<'a>(&'a self, consumer: Consumer<'a>, name: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(self.noted(consumer, name, json!({"of": "server"})))
    }

    fn login<'a>(
        &'a self,
        consumer: Consumer<'a>,
        host: &'a str,
    ) -> BoxFuture<'a, Result<Option<Login>, String>> {
        Box::pin(self.account(consumer, host))
    }
}

/// Owners whose secrets a run can use, by precedence: the user before the project.
async fn owners(store: &Store, project: &str, user: &str) -> Result<Vec<Owner>, StoreError> {
    let own = store.user_by_name(user).await?.filter(|user| !user.disabled);
    let own = own.map(|user| Owner::User(user.id));
    Ok(own.into_iter().chain([Owner::Project(project.into())]).collect())
}

/// Names of the secrets that a run of `user` in `project` can use.
pub async fn names(store: &Store, project: &str, user: &str) -> Result<BTreeSet<String>, StoreError> {
    let mut names = BTreeSet::new();
    for owner in owners(store, project, user).await? {
        names.extend(store.secrets(&owner).await?.into_iter().map(|secret| secret.name));
    }
    Ok(names)
}

/// Value of a project's secret, for the server's own work for the project.
///
/// # Errors
/// The secret does not exist or cannot be decrypted.
pub(crate) async fn of_project(web: &Web, project: &str, name: &str) -> ApiResult<String> {
    let owner = Owner::Project(project.into());
    let missing =
        || ApiError::conflict(format!("the project no longer has the secret `{name}`: add it again"));
    let secret = web.store().secret(&owner, name).await?.ok_or_else(missing)?;
    let opened = web.keys().sealing.open(&owner, name, &secret.sealed);
    opened.map_err(|error| ApiError::conflict(format!("the secret `{name}` cannot be read: {error}")))
}
