//! Views of the calling user and their sessions.

use cubeloom_domain::identity::{Scope, Session, User};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::users::UserView;
use crate::auth::{Caller, Via, session};
use crate::time::Time;

/// Your account and how you authenticated.
#[derive(Debug, Serialize, ToSchema)]
pub struct MeView {
    /// Your account.
    pub user: UserView,
    /// Authentication method: `session` or `token`.
    pub via: &'static str,
    /// Scope: `read`, `run`, `write` or `admin`.
    pub scope: &'static str,
    /// Project that the token is limited to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl MeView {
    /// The caller in a session.
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

/// Browser in which you are signed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionView {
    /// ID.
    pub id: String,
    /// Whether this request was made from this session.
    pub current: bool,
    /// Address from which the user signed in.
    pub address: String,
    /// Browser, as it identifies itself.
    pub agent: String,
    /// Creation time.
    pub created_at: Time,
    /// Time of last use, accurate to 15 minutes.
    pub used_at: Time,
    /// Expiry time if the session is not used.
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
