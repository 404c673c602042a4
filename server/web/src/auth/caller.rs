//! The authenticated caller, for handlers.

use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use cubeloom_domain::identity::{Role, Scope, User};

use super::not_signed_in;
use crate::error::ApiError;

/// The authenticated caller, set by the guard. Handlers use it as an extractor.
#[derive(Clone, Debug)]
pub struct Caller {
    pub user: Arc<User>,
    /// Credential of the request.
    pub via: Via,
    pub address: String,
    /// Scope of the credential. A session has every permission.
    pub scope: Scope,
    /// Project of the route, if it has one.
    pub project: Option<String>,
    /// Role in that project. Administrators own every project.
    pub role: Option<Role>,
}

impl Caller {
    /// User that runs of this caller run as, which decides whose personal secrets they can use. For a token
    /// for one project, it is a name that no account can have: such runs use the project's secrets only.
    #[must_use]
    pub fn acting(&self) -> String {
        let name = &self.user.name;
        if self.via.bound_to().is_some() { format!("{name}:token") } else { name.clone() }
    }
}

/// Credential of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// Session cookie.
    Session {
        /// Id of the session.
        id: String,
    },
    /// An API token.
    Token {
        id: String,
        /// Name that the user gave the token.
        name: String,
        /// Project to which the token is restricted, if set.
        project: Option<String>,
    },
}

impl Via {
    /// Credential as the audit log records it.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Session { .. } => "session".into(),
            Self::Token { name, .. } => format!("token {name}"),
        }
    }

    /// Project to which the credential is restricted, if any.
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
