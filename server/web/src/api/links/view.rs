//! View of a link.

use cubeloom_domain::identity::{Link, LinkPurpose};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::links::kind;
use crate::time::Time;

/// Unused link, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct LinkView {
    /// ID.
    pub id: String,
    /// Kind of the link: `first`, `invite` or `reset`.
    pub kind: &'static str,
    /// Note about the recipient, as entered by the link's creator. For a password reset, the user's name.
    pub note: String,
    /// Project that the user of the link becomes a member of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Role in the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// Whether the user of the link becomes an administrator of the whole platform.
    pub admin: bool,
    /// Name of the user who created it.
    pub created_by: String,
    /// Creation time.
    pub created_at: Time,
    /// Expiration time.
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
