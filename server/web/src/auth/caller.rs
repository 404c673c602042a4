//! Who calls: what the guard has found out, for handlers.

use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use cubeloom_domain::identity::{Role, Scope, User};

use super::not_signed_in;
use crate::error::ApiError;

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

impl Caller {
    /// Who a run that they start acts as, which says whose own secrets it may use. A token for one project acts for
    /// the project only: then it is a word that no account can have.
    #[must_use]
    pub fn acting(&self) -> String {
        let name = &self.user.name;
        if self.via.bound_to().is_some() { format!("{name}:token") } else { name.clone() }
    }
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
        /// Name that the user gave the token.
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

    /// The one project that it is good for, if it is for one.
    #[must_use]
    pub fn bound_to(&self) -> Option<&str> {
        match self {
            Self::Session { .. } => None,
            Self::Token { project, .. } => project.as_deref(),
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
