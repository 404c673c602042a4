//! A person, as the API shows them.

use cubeloom_domain::identity::User;
use serde::Serialize;
use utoipa::ToSchema;

use crate::time::{Time, maybe};

/// A person.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserView {
    /// The id.
    pub id: String,
    /// What they sign in with; it never changes.
    pub name: String,
    /// What they are called.
    pub display_name: String,
    /// Where they can be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Whether they administer the whole platform.
    pub admin: bool,
    /// Whether they may not sign in any more.
    pub disabled: bool,
    /// The OpenID Connect provider at which they sign in, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// Since when they are known.
    pub created_at: Time,
    /// When they last did something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Time>,
    /// Whether they get mail about their own runs: a task that hangs, cards that are held and not used, sizes that change.
    pub mails: bool,
    /// Counts the changes of the account, from 1: its ETag.
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
