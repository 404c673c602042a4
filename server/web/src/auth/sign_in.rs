//! Sign-in with a name and a password.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use cubeloom_domain::identity::{Session, User};

use super::{accounts, network, of_client, password, session};
use crate::audit::{self, Act, Actor};
use crate::error::{ApiError, ApiResult, Kind};
use crate::state::Web;

/// Address and user agent of a client before it signs in. An extractor.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) address: String,
    /// Browser, as it identifies itself.
    pub(crate) agent: String,
}

impl Visitor {
    pub(crate) fn of(web: &Web, parts: &Parts) -> Self {
        Self { address: of_client(web, parts), agent: agent(&parts.headers) }
    }

    /// Context of this visitor's actions as a user.
    pub(crate) fn act<'w>(&self, web: &'w Web, user: Option<&User>) -> Act<'w> {
        let actor = Actor {
            user_id: user.map(|user| user.id.clone()),
            user_name: user.map(|user| user.name.clone()).unwrap_or_default(),
            via: "session".into(),
            address: self.address.clone(),
            project: None,
        };
        Act::by(web, actor)
    }
}

impl axum::extract::FromRequestParts<Web> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Self::Rejection> {
        Ok(Self::of(web, parts))
    }
}

fn agent(headers: &HeaderMap) -> String {
    headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

/// Signs a user in: the new session, and the header that sets its cookie. On failure, neither the response
/// nor its timing reveals whether the name exists.
pub(crate) async fn sign_in(
    web: &Web,
    visitor: &Visitor,
    name: &str,
    password: String,
) -> ApiResult<(User, Session, HeaderValue)> {
    // User names are no longer than this. The limit bounds the memory of the counters.
    let name: String = name.trim().to_lowercase().chars().take(accounts::NAME + 1).collect();
    slow_down(web, &visitor.address, &name)?;
    let user = web.store().user_by_name(&name).await?;
    let kept = match &user {
        Some(user) => web.store().password_hash(&user.id).await?,
        None => None,
    };
    let right = password::fits(password, kept).await?;
    let Some(user) = user.filter(|user| right && !user.disabled) else {
        tracing::info!(address = visitor.address, "sign-in failed: wrong name or password");
        audit::refuse(web, &visitor.act(web, None), "session.refuse", name).await;
        return Err(ApiError::new(Kind::NotSignedIn, "wrong name or password"));
    };
    web.throttle().succeeded(&name, &network(&visitor.address));
    let (session, cookie) = enter(web, visitor, &user).await?;
    Ok((user, session, cookie))
}

/// Verifies the password of a signed-in user.
pub(crate) async fn confirm(web: &Web, visitor: &Visitor, user: &User, password: String) -> ApiResult<()> {
    let kept = web.store().password_hash(&user.id).await?;
    if kept.is_none() {
        return Err(ApiError::conflict("you have no password here: you sign in with a provider"));
    }
    // Counted apart from sign-ins, which others can make fail.
    let counted = format!("{} in a session", user.name);
    slow_down(web, &visitor.address, &counted)?;
    if !password::fits(password, kept).await? {
        return Err(ApiError::field("/current", "this is not your current password"));
    }
    web.throttle().succeeded(&counted, &network(&visitor.address));
    Ok(())
}

/// Counts an attempt to guess a secret. Refuses it if it is too early.
pub(super) fn slow_down(web: &Web, address: &str, name: &str) -> ApiResult<()> {
    web.throttle().tries(name, &network(address), web.now()).map_err(|wait| {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        ApiError::too_many(format!("too many tries: wait {seconds} seconds, then try again"), seconds)
    })
}

/// Creates a session for an authenticated user.
pub(crate) async fn enter(web: &Web, visitor: &Visitor, user: &User) -> ApiResult<(Session, HeaderValue)> {
    let begun = session::begin(web, &visitor.act(web, Some(user)), user, &visitor.agent).await?;
    if let Err(error) = web.store().seen(&user.id, web.now()).await {
        tracing::debug!(%error, "cannot record a sign-in");
    }
    Ok(begun)
}
