//! Entries of the audit log.

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

/// Refusals that go into the log each minute, of one person or one address: who tries everything is not to fill it.
const REFUSALS: u32 = 10;
/// Downloads of one kind that go into the log each minute, of one person.
const DOWNLOADS: u32 = 30;

/// Notes a refusal; many in one minute are counted only.
pub(crate) async fn refuse(web: &Web, act: &Act<'_>, action: &'static str, subject: String) {
    note(web, act, REFUSALS, &act.entry(action, subject)).await;
}

/// Notes a download or an export; many in one minute are counted only.
pub(crate) async fn take_out(web: &Web, act: &Act<'_>, entry: &Entry) {
    note(web, act, DOWNLOADS, entry).await;
}

/// Writes an entry, unless its person or address had so many of its action in this minute. A database that does not answer
/// now is no reason to answer otherwise.
async fn note(web: &Web, act: &Act<'_>, most: u32, entry: &Entry) {
    if web.audit_limit().admits(&act.actor, &entry.action, most, act.now)
        && let Err(error) = act.store.audit(entry).await
    {
        tracing::warn!(%error, action = entry.action, "something is not in the audit log");
    }
}

/// Who does something, as the log has it.
#[derive(Clone, Debug)]
pub struct Actor {
    /// The id, where the person has an account.
    pub user_id: Option<String>,
    /// Name.
    pub user_name: String,
    /// By what.
    pub via: String,
    /// From where; empty on the server's own machine.
    pub address: String,
    /// Project, if any.
    pub project: Option<String>,
}

impl Actor {
    /// Somebody who uses the program on the server's machine.
    #[must_use]
    pub fn at_the_machine(user_name: String) -> Self {
        let via = "command line".into();
        Self { user_id: None, user_name, via, address: String::new(), project: None }
    }

    /// The server by itself.
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

/// Somebody does something now: what changes to people and their things begin with, from the web or the command line.
#[derive(Clone)]
pub struct Act<'s> {
    /// Where it is done.
    pub store: &'s Store,
    /// Current time.
    pub now: Timestamp,
    /// Author of the change.
    pub actor: Actor,
}

impl<'s> Act<'s> {
    /// A caller does something.
    pub(crate) fn of(web: &'s Web, caller: &Caller) -> Self {
        Self { store: web.store(), now: web.now(), actor: caller.into() }
    }

    /// Somebody does something.
    pub(crate) fn by(web: &'s Web, actor: Actor) -> Self {
        Self { store: web.store(), now: web.now(), actor }
    }

    /// The same, by somebody of this name who has no account yet.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.actor.user_name = name.into();
        self
    }

    /// The entry for it: `entry("member.put", "ada")`.
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

/// An entry for a change that `caller` makes: `entry(&web, &caller, "member.put", "ada").project(p).after(json)`.
#[must_use]
pub fn entry(web: &Web, caller: &Caller, action: &str, subject: impl Into<String>) -> Entry {
    Act::of(web, caller).entry(action, subject)
}

/// An entry being filled in.
pub struct Entry(AuditEntry);

impl Entry {
    /// State before the change.
    #[must_use]
    pub fn before(mut self, value: impl Into<Value>) -> Self {
        self.0.before = Some(value.into());
        self
    }

    /// How it is now.
    #[must_use]
    pub fn after(mut self, value: impl Into<Value>) -> Self {
        self.0.after = Some(value.into());
        self
    }

    /// In this project, when the route names none.
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
