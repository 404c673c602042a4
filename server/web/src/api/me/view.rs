//! The person who calls, and their sessions, as the API shows them.

use cubeloom_domain::identity::{Scope, Session, User};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::users::UserView;
use crate::auth::{Caller, Via, session};
use crate::time::Time;

/// You, and what you came with.
#[derive(Debug, Serialize, ToSchema)]
pub struct MeView {
    /// Your account.
    pub user: UserView,
    /// `session` or `token`.
    pub via: &'static str,
    /// What it may be used for: `read`, `run`, `write` or `admin`.
    pub scope: &'static str,
    /// The one project that a token is for, if it is for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl MeView {
    /// Somebody in a session.
    pub(crate) fn of_session(user: User) -> Self {
        Self { user: user.into(), via: "session", scope: Scope::Admin.as_str(), project: None }
    }
}

impl From<&Caller> for MeView {
    fn from(caller: &Caller) -> Self {
        let via = match caller.via {
            Via::Session { .. } => "session",
            Via::Token { .. } => "token",
        };
        Self {
            user: UserView::from(caller.user.as_ref().clone()),
            via,
            scope: caller.scope.as_str(),
            project: caller.via.bound_to().map(ToOwned::to_owned),
        }
    }
}

/// A browser in which you are signed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionView {
    /// The id.
    pub id: String,
    /// Whether this request came from it.
    pub current: bool,
    /// The address that signed in.
    pub address: String,
    /// The browser, as it calls itself.
    pub agent: String,
    /// Since when.
    pub created_at: Time,
    /// When it was last used, to a quarter of an hour.
    pub used_at: Time,
    /// Until when it lives if nobody uses it.
    pub expires_at: Time,
}

impl SessionView {
    pub(crate) fn new(found: Session, caller: &Caller) -> Self {
        Self {
            current: caller.via == Via::Session { id: found.id.clone() },
            created_at: Time(found.created_at),
            used_at: Time(found.renewed_at),
            expires_at: Time(session::until(&found)),
            id: found.id,
            address: found.address,
            agent: found.agent,
        }
    }
}
