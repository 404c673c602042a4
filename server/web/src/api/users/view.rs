//! View of a user.

use cubeloom_domain::identity::User;
use serde::Serialize;
use utoipa::ToSchema;

use crate::time::{Time, maybe};

/// A user.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserView {
    /// ID.
    pub id: String,
    /// Sign-in name. It never changes.
    pub name: String,
    /// Display name.
    pub display_name: String,
    /// Email address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Whether the user is a platform administrator.
    pub admin: bool,
    /// Whether sign-in is disabled for the user.
    pub disabled: bool,
    /// OpenID Connect provider that the user signs in with, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// Creation time.
    pub created_at: Time,
    /// Time of the user's last activity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Time>,
    /// Whether the user gets mail about their own runs: hanging tasks, GPUs that are allocated but idle, changed
    /// sizes.
    pub mails: bool,
    /// Revision of the account, from 1. It is the ETag.
    pub revision: u64,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            id: user.id,
            name: user.name,
            display_name: user.display_name,
            email: user.email,
            admin: user.admin,
            disabled: user.disabled,
            issuer: user.federated.map(|at| at.issuer),
            created_at: Time(user.created_at),
            seen_at: maybe(user.seen_at),
            mails: user.mails,
            revision: user.revision,
        }
    }
}
