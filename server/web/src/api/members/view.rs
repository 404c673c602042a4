//! A member, as the API shows one.

use cubeloom_domain::identity::Member;
use serde::Serialize;
use utoipa::ToSchema;

use crate::time::Time;

/// Somebody's place in a project.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemberView {
    /// The person's id.
    pub user_id: String,
    /// The name that they sign in with.
    pub user: String,
    /// What they are called.
    pub display_name: String,
    /// Whether they may not sign in any more.
    pub disabled: bool,
    /// `viewer`, `editor` or `owner`.
    pub role: &'static str,
    /// Since when they are a member.
    pub created_at: Time,
    /// Counts the changes of their place, from 1: its ETag.
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
