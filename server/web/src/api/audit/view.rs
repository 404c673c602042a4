//! View and filters of audit log entries.

use cubeloom_domain::identity::AuditEntry;
use cubeloom_store::AuditFilter;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::time::Time;

/// An audit log entry.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditView {
    /// ID. Later entries have greater IDs.
    pub id: String,
    /// Time of the change.
    pub at: Time,
    /// Name of the user who made the change.
    pub user: String,
    /// Origin of the change: `session`, `token <name>`, `device <description>`, `hook <name>`, `command line`, `run`
    /// or `server`.
    pub via: String,
    /// Source address. Empty for changes made on the server's own machine.
    pub address: String,
    /// Project, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Action, in the form `<thing>.<verb>`.
    pub action: String,
    /// Name or ID of the affected object.
    pub subject: String,
    /// State before the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// State after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl From<AuditEntry> for AuditView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            id: entry.id,
            at: Time(entry.at),
            user: entry.user_name,
            via: entry.via,
            address: entry.address,
            project: entry.project,
            action: entry.action,
            subject: entry.subject,
            before: entry.before,
            after: entry.after,
        }
    }
}

/// Filters of entries.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only entries about this project.
    pub project: Option<String>,
    /// Only entries by the user with this name.
    pub user: Option<String>,
    /// Only actions that begin with this prefix, e.g. `pipeline.`.
    pub action: Option<String>,
    /// Only entries about the object with this name or ID.
    pub subject: Option<String>,
    /// Only entries about objects whose name or ID contains this text, ignoring case.
    pub text: Option<String>,
    /// Only entries at or after this time.
    pub since: Option<Time>,
    /// Only entries before this time.
    pub until: Option<Time>,
}

impl From<AuditQuery> for AuditFilter {
    fn from(wanted: AuditQuery) -> Self {
        // Empty form fields count as absent.
        let said =
            |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Self {
            project: said(wanted.project),
            user: said(wanted.user),
            action: said(wanted.action),
            subject: said(wanted.subject),
            text: said(wanted.text),
            since: wanted.since.map(|time| time.0),
            until: wanted.until.map(|time| time.0),
            ..Self::default()
        }
    }
}
