//! Audit log entries.

mod downloads;
mod limit;
pub mod stream;

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::AuditEntry;
use cubeloom_store::Store;
use serde_json::Value;

use crate::auth::{Caller, secret};
use crate::state::Web;

pub(crate) use downloads::Download;
pub use limit::write_counts;
pub(crate) use limit::{AuditLimit, start};

/// Refusals per minute and user or address that are written, so that a scan cannot fill the log.
const REFUSALS: u32 = 10;
/// Downloads of one kind per minute and user that are written.
const DOWNLOADS: u32 = 30;

/// Records a refusal. Further ones within a minute are only counted.
pub(crate) async fn refuse(web: &Web, act: &Act<'_>, action: &'static str, subject: String) {
    note(web, act, REFUSALS, &act.entry(action, subject)).await;
}

/// Records a download or an export. Further ones within a minute are only counted.
pub(crate) async fn take_out(web: &Web, act: &Act<'_>, entry: &Entry) {
    note(web, act, DOWNLOADS, entry).await;
}

/// Writes an entry, unless the limit per minute is reached. A database error does not fail the request.
async fn note(web: &Web, act: &Act<'_>, most: u32, entry: &Entry) {
    if web.audit_limit().admits(&act.actor, &entry.action, most, act.now)
        && let Err(error) = act.store.audit(entry).await
    {
        tracing::warn!(%error, action = entry.action, "cannot write to the audit log");
    }
}

#[derive(Clone, Debug)]
pub struct Actor {
    /// User id, if the user has an account.
    pub user_id: Option<String>,
    pub user_name: String,
    /// Credential or origin of the action.
    pub via: String,
    /// Client address. Empty on the server's own machine.
    pub address: String,
    /// Project, if any.
    pub project: Option<String>,
}

impl Actor {
    /// A user of the command line on the server's machine.
    #[must_use]
    pub fn at_the_machine(user_name: String) -> Self {
        let via = "command line".into();
        Self { user_id: None, user_name, via, address: String::new(), project: None }
    }

    /// The server itself.
    #[must_use]
    pub fn server() -> Self {
        let (user_name, via) = ("server".into(), "server".into());
        Self { user_id: None, user_name, via, address: String::new(), project: None }
    }
}

impl From<&Caller> for Actor {
    fn from(caller: &Caller) -> Self {
        Self {
            user_id: Some(caller.user.id.clone()),
            user_name: caller.user.name.clone(),
            via: caller.via.describe(),
            address: caller.address.clone(),
            project: caller.project.clone(),
        }
    }
}

/// Context of a change to users and their objects, from the web or the command line.
#[derive(Clone)]
pub struct Act<'s> {
    pub store: &'s Store,
    pub now: Timestamp,
    /// Author of the change.
    pub actor: Actor,
}

impl<'s> Act<'s> {
    /// Context of a caller's action.
    pub(crate) fn of(web: &'s Web, caller: &Caller) -> Self {
        Self { store: web.store(), now: web.now(), actor: caller.into() }
    }

    /// Context of an actor's action.
    pub(crate) fn by(web: &'s Web, actor: Actor) -> Self {
        Self { store: web.store(), now: web.now(), actor }
    }

    /// The same with the name of a user without an account yet.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.actor.user_name = name.into();
        self
    }

    /// An entry of this context: `entry("member.put", "ada")`.
    #[must_use]
    pub fn entry(&self, action: &str, subject: impl Into<String>) -> Entry {
        let actor = self.actor.clone();
        Entry(AuditEntry {
            id: secret::new_id(self.now),
            at: self.now,
            user_id: actor.user_id,
            user_name: actor.user_name,
            via: actor.via,
            address: actor.address,
            project: actor.project,
            action: action.into(),
            subject: subject.into(),
            before: None,
            after: None,
        })
    }
}

/// An entry for a change by `caller`: `entry(&web, &caller, "member.put", "ada").project(p).after(json)`.
#[must_use]
pub fn entry(web: &Web, caller: &Caller, action: &str, subject: impl Into<String>) -> Entry {
    Act::of(web, caller).entry(action, subject)
}

/// Builder of an entry.
pub struct Entry(AuditEntry);

impl Entry {
    #[must_use]
    pub fn before(mut self, value: impl Into<Value>) -> Self {
        self.0.before = Some(value.into());
        self
    }

    #[must_use]
    pub fn after(mut self, value: impl Into<Value>) -> Self {
        self.0.after = Some(value.into());
        self
    }

    /// Sets the project, if the route names none.
    #[must_use]
    pub fn project(mut self, project: &str) -> Self {
        self.0.project = Some(project.into());
        self
    }
}

impl std::ops::Deref for Entry {
    type Target = AuditEntry;

    fn deref(&self) -> &AuditEntry {
        &self.0
    }
}
