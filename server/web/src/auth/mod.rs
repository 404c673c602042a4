//! Who somebody is: sessions of browsers, tokens of programs.

use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use cubeloom_domain::RunId;
use cubeloom_domain::identity::{Role, Scope, User};

use crate::error::{ApiError, ApiResult, Kind};
use crate::state::Web;

/// Who calls, as the guard has found out. Handlers take it as an extractor.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The person.
    pub user: Arc<User>,
    /// What they showed.
    pub via: Via,
    /// From where.
    pub address: String,
    /// What they may be used for: of a session, everything.
    pub scope: Scope,
    /// The project of the route, when it is about one.
    pub project: Option<String>,
    /// Their role there; an administrator is an owner everywhere.
    pub role: Option<Role>,
}

/// What somebody showed to be let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// A session's cookie.
    Session {
        /// The session.
        id: String,
    },
    /// An API token.
    Token {
        /// The token.
        id: String,
        /// What its person calls it.
        name: String,
        /// The one project that it is for, if it is for one.
        project: Option<String>,
    },
}

impl Via {
    /// As the audit log has it.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Session { .. } => "session".into(),
            Self::Token { name, .. } => format!("token {name}"),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or_else(not_signed_in)
    }
}

impl<S: Send + Sync> OptionalFromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, ApiError> {
        Ok(parts.extensions.get::<Self>().cloned())
    }
}

/// Nobody is signed in.
#[must_use]
pub fn not_signed_in() -> ApiError {
    ApiError::new(Kind::NotSignedIn, "sign in, or send an API token in the header Authorization: Bearer ...")
}

/// Who sent this request: `None` when it carries nothing that says so.
pub(crate) async fn identify(_web: &Web, _parts: &Parts) -> ApiResult<Option<Caller>> {
    Ok(None)
}

/// What they may do in a project: `None` when there is no such project, or they are no member.
pub(crate) async fn role_in(_web: &Web, _caller: &Caller, _project: &str) -> ApiResult<Option<Role>> {
    Ok(None)
}

/// The project that a run belongs to.
pub(crate) async fn project_of_run(web: &Web, run: &RunId) -> ApiResult<Option<String>> {
    Ok(web.store().run(run).await?.map(|run| run.project))
}
