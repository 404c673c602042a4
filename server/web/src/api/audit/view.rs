//! An entry of the audit log, as the API shows it, and which are wanted.

use cubeloom_domain::identity::AuditEntry;
use cubeloom_store::AuditFilter;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::time::Time;

/// One change.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditView {
    /// The id; later entries have greater ones.
    pub id: String,
    /// When.
    pub at: Time,
    /// The name of who did it.
    pub user: String,
    /// By what: `session`, `token <name>`, `hook <name>`, `command line`, `run` or `server`.
    pub via: String,
    /// From which address; empty on the server's own machine.
    pub address: String,
    /// In which project, when in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What was done, `<thing>.<verb>`.
    pub action: String,
    /// To what: a name or an id.
    pub subject: String,
    /// How it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// How it is since.
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

/// Which entries are wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only about this project.
    pub project: Option<String>,
    /// Only by the person of this name.
    pub user: Option<String>,
    /// Only actions that begin with this, e.g. `pipeline.`.
    pub action: Option<String>,
    /// Only about the thing of this name or id.
    pub subject: Option<String>,
    /// Only about things whose name or id contains this, in whatever case.
    pub text: Option<String>,
    /// Only at this moment or later.
    pub since: Option<Time>,
    /// Only before this moment.
    pub until: Option<Time>,
}

impl From<AuditQuery> for AuditFilter {
    fn from(wanted: AuditQuery) -> Self {
        // An empty field of a form is none.
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
