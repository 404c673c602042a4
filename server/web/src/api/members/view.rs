//! View of a member.

use cubeloom_domain::identity::Member;
use serde::Serialize;
use utoipa::ToSchema;

use crate::time::Time;

/// Membership of a user in a project.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemberView {
    /// ID of the user.
    pub user_id: String,
    /// Name that the user signs in with.
    pub user: String,
    /// Display name.
    pub display_name: String,
    /// Whether sign-in is disabled for the user.
    pub disabled: bool,
    /// Role: `viewer`, `editor` or `owner`.
    pub role: &'static str,
    /// Time when the user became a member.
    pub created_at: Time,
    /// Revision number of the membership, starting at 1, used as the ETag.
    pub revision: u64,
}

impl From<Member> for MemberView {
    fn from(member: Member) -> Self {
        Self {
            user_id: member.user.id,
            user: member.user.name,
            display_name: member.user.display_name,
            disabled: member.user.disabled,
            role: member.role.as_str(),
            created_at: Time(member.created_at),
            revision: member.revision,
        }
    }
}
