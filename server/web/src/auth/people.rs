//! Cached data of callers.

use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::RunId;
use cubeloom_domain::identity::{ApiToken, Project, Role, Session, User};
use cubeloom_store::Store;
use moka::sync::Cache;

use super::fresh::Fresh;
use crate::error::ApiResult;

/// Interval at which the use of a token is recorded.
const NOTED: Duration = Duration::from_secs(60);

/// A user and their project roles.
pub(crate) struct Person {
    pub(crate) user: Arc<User>,
    pub(crate) roles: Vec<(String, Role)>,
}

/// Lookups of the guard.
pub(crate) struct People {
    persons: Fresh<Arc<Person>>,
    tokens: Fresh<Arc<ApiToken>>,
    sessions: Fresh<Arc<Session>>,
    projects: Fresh<Arc<Vec<Project>>>,
    /// The project of a run never changes.
    runs: Cache<RunId, Arc<str>>,
    /// Tokens whose use was recorded within the last minute.
    noted: Cache<String, ()>,
}

impl People {
    pub(crate) fn new() -> Self {
        Self {
            persons: Fresh::new(),
            tokens: Fresh::new(),
            sessions: Fresh::new(),
            projects: Fresh::new(),
            runs: Cache::new(100_000),
            noted: Cache::builder().max_capacity(100_000).time_to_live(NOTED).build(),
        }
    }

    pub(crate) async fn person(&self, store: &Store, id: &str) -> ApiResult<Option<Arc<Person>>> {
        let load = async {
            let Some(user) = store.user(id).await? else { return Ok(None) };
            let roles = store.roles(id).await?;
            Ok(Some(Arc::new(Person { user: Arc::new(user), roles })))
        };
        self.persons.get(id, load).await
    }

    pub(crate) async fn token(&self, store: &Store, id: &str) -> ApiResult<Option<Arc<ApiToken>>> {
        self.tokens.get(id, async { Ok(store.token(id).await?.map(Arc::new)) }).await
    }

    pub(crate) async fn session(&self, store: &Store, id: &str) -> ApiResult<Option<Arc<Session>>> {
        self.sessions.get(id, async { Ok(store.session(id).await?.map(Arc::new)) }).await
    }

    /// All projects, by name.
    pub(crate) async fn projects(&self, store: &Store) -> ApiResult<Arc<Vec<Project>>> {
        let all = self.projects.get("", async { Ok(Some(Arc::new(store.projects(None).await?))) }).await?;
        Ok(all.unwrap_or_default())
    }

    pub(crate) async fn project_of_run(&self, store: &Store, run: &RunId) -> ApiResult<Option<String>> {
        if let Some(project) = self.runs.get(run) {
            return Ok(Some(project.to_string()));
        }
        let found = store.run(run).await?.map(|found| found.project);
        if let Some(project) = &found {
            self.runs.insert(run.clone(), project.as_str().into());
        }
        Ok(found)
    }

    /// Whether the use of a token was not recorded within the last minute.
    pub(crate) fn first_use_in_a_while(&self, token: &str) -> bool {
        self.noted.entry_by_ref(token).or_insert(()).is_fresh()
    }

    /// Invalidates sessions after a key was rotated.
    pub(crate) fn forget_session(&self) {
        self.sessions.forget();
    }

    /// Invalidates everything after a change of a user, role, session, token or project.
    pub(crate) fn forget(&self) {
        self.persons.forget();
        self.tokens.forget();
        self.sessions.forget();
        self.projects.forget();
    }
}
