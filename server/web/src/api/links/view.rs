//! A link, as the API shows it.

use cubeloom_domain::identity::{Link, LinkPurpose};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::links::kind;
use crate::time::Time;

/// A link that was not used yet, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct LinkView {
    /// The id.
    pub id: String,
    /// `first`, `invite` or `reset`.
    pub kind: &'static str,
    /// Whom it is for, as its maker noted; of a new password, the person's name.
    pub note: String,
    /// The project that whoever uses it becomes a member of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What they may do there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// Whether whoever uses it administers the whole platform.
    pub admin: bool,
    /// The name of who made it.
    pub created_by: String,
    /// Since when.
    pub created_at: Time,
    /// Until when.
    pub expires_at: Time,
}

impl From<Link> for LinkView {
    fn from(link: Link) -> Self {
        let kind = kind(&link);
        let (place, admin) = match link.purpose {
            LinkPurpose::First => (None, true),
            LinkPurpose::Invite { place, admin } => (place, admin),
            LinkPurpose::Reset { .. } => (None, false),
        };
        let (project, role) = place.map(|(project, role)| (project, role.as_str())).unzip();
        Self {
            id: link.id,
            kind,
            note: link.note,
            project,
            role,
            admin,
            created_by: link.created_by,
            created_at: Time(link.created_at),
            expires_at: Time(link.expires_at),
        }
    }
}
