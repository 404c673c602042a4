//! Entries of the audit log.

use cubeloom_domain::identity::AuditEntry;
use serde_json::Value;

use crate::auth::Caller;
use crate::state::Web;

/// An entry for a change that `caller` makes: `entry(&web, &caller, "member.put", "ada").project(p).after(json)`.
#[must_use]
pub fn entry(web: &Web, caller: &Caller, action: &str, subject: impl Into<String>) -> Entry {
    Entry(AuditEntry {
        id: web.new_id(),
        at: web.now(),
        user_id: Some(caller.user.id.clone()),
        user_name: caller.user.name.clone(),
        via: caller.via.describe(),
        address: caller.address.clone(),
        project: caller.project.clone(),
        action: action.into(),
        subject: subject.into(),
        before: None,
        after: None,
    })
}

/// An entry being filled in.
pub struct Entry(AuditEntry);

impl Entry {
    /// How it was.
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
