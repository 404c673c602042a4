//! View of a token.

use cubeloom_domain::identity::ApiToken;
use serde::Serialize;
use utoipa::ToSchema;

use crate::page::Page;
use crate::time::{Time, maybe};

/// A token, without its secret part.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenView {
    /// Token id: the part of the token between `clt_` and the next `_`.
    pub id: String,
    /// Name that the user gave the token.
    pub name: String,
    /// Scope: `read`, `run`, `write` or `admin`.
    pub scope: &'static str,
    /// Project to which the token is restricted, if set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Creation time.
    pub created_at: Time,
    /// Expiry time. If omitted, the token never expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    /// Time of last use, to the minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<Time>,
}

impl From<ApiToken> for TokenView {
    fn from(token: ApiToken) -> Self {
        Self {
            id: token.id,
            name: token.name,
            scope: token.scope.as_str(),
            project: token.project,
            created_at: Time(token.created_at),
            expires_at: maybe(token.expires_at),
            used_at: maybe(token.used_at),
        }
    }
}

/// A page of a user's tokens, newest first.
pub(super) fn page(tokens: Vec<ApiToken>, limit: usize, after: Option<&str>) -> Page<TokenView> {
    let later = tokens.into_iter().filter(|token| after.is_none_or(|after| token.id.as_str() < after));
    let views = later.take(limit + 1).map(TokenView::from).collect();
    Page::of(views, limit, |view: &TokenView| view.id.clone())
}
