//! Browser sessions. The cookie's key is rotated every quarter of an hour, so that a stolen cookie soon
//! becomes useless. The previous key stays valid for a minute, for requests in flight.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use axum::http::request::Parts;
use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{AuditEntry, Scope, Session, User};

use super::{Caller, Via, cookie, not_signed_in, secret};
use crate::audit::Act;
use crate::error::ApiResult;
use crate::state::Web;

/// Age at which a key is rotated.
const RENEWED_AFTER: Duration = Duration::from_secs(15 * 60);
/// How long the previous key stays valid.
const OVERLAP: Duration = Duration::from_secs(60);
/// Lifetime of an idle session.
const IDLE: Duration = Duration::from_secs(7 * 86_400);
/// Maximum lifetime of a session.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);
/// Maximum stored length of the user agent, in characters.
const AGENT: usize = 200;

/// Creates a session. The header sets its cookie.
pub(crate) async fn begin(
    web: &Web,
    act: &Act<'_>,
    user: &User,
    agent: &str,
) -> ApiResult<(Session, HeaderValue)> {
    let session = Session {
        id: secret::new_id(act.now),
        user_id: user.id.clone(),
        key: secret::new(),
        previous: None,
        created_at: act.now,
        renewed_at: act.now,
        expires_at: act.now.plus(LONGEST),
        revoked_at: None,
        address: act.actor.address.clone(),
        agent: agent.chars().take(AGENT).collect(),
    };
    act.store.create_session(&session, &act.entry("session.begin", &session.id)).await?;
    let cookie = cookie::of(web, &session, until(&session))?;
    Ok((session, cookie))
}

/// The caller from the session cookie, and the new cookie if the key was rotated. `None` without a session
/// cookie.
pub(crate) async fn caller(
    web: &Web,
    parts: &Parts,
    address: String,
) -> ApiResult<Option<(Caller, Option<HeaderValue>)>> {
    let Some(claims) = cookie::read(web, &parts.headers) else {
        return if cookie::is_there(web, &parts.headers) { Err(not_signed_in()) } else { Ok(None) };
    };
    let known = web.people().session(web.store(), &claims.sid).await?;
    let mut session = known.filter(|session| live(session, web.now())).ok_or_else(not_signed_in)?;
    if session.key != claims.key {
        // Another request may just have rotated the key.
        let found = web.store().session(&claims.sid).await?.filter(|session| live(session, web.now()));
        session = Arc::new(found.ok_or_else(not_signed_in)?);
    }
    let renewed = if session.key == claims.key {
        renew(web, &session).await?
    } else if holds_still(&session, &claims.key, web.now()) {
        // The response with the new cookie may have been lost.
        Some(cookie::of(web, &session, until(&session))?)
    } else {
        return Err(not_signed_in());
    };
    let person = web.people().person(web.store(), &session.user_id).await?;
    let person = person.filter(|person| !person.user.disabled).ok_or_else(not_signed_in)?;
    let via = Via::Session { id: session.id.clone() };
    let user = person.user.clone();
    Ok(Some((Caller { user, via, address, scope: Scope::Admin, project: None, role: None }, renewed)))
}

/// Rotates an old key. Of concurrent requests only one does. The cookie of the others stays valid for a
/// minute.
async fn renew(web: &Web, session: &Session) -> ApiResult<Option<HeaderValue>> {
    let now = web.now();
    if now.since(session.renewed_at) < RENEWED_AFTER {
        return Ok(None);
    }
    let next = Session { key: secret::new(), renewed_at: now, ..session.clone() };
    let done =
        web.store().rotate_session(&session.id, &session.key, &next.key, now.plus(OVERLAP), now).await?;
    web.people().forget_session();
    if done {
        let _ = web.store().seen(&session.user_id, now).await;
        return Ok(Some(cookie::of(web, &next, until(&next))?));
    }
    Ok(None)
}

/// Whether a session is still valid.
pub(crate) async fn holds(web: &Web, id: &str) -> ApiResult<bool> {
    let session = web.people().session(web.store(), id).await?;
    Ok(session.is_some_and(|session| live(&session, web.now())))
}

/// Ends a session. Returns `false` if it has already ended.
pub(crate) async fn end(web: &Web, id: &str, entry: &AuditEntry) -> ApiResult<bool> {
    let done = web.store().revoke_session(id, entry).await?;
    web.people().forget();
    Ok(done)
}

/// Whether a session is valid. The database also returns sessions that were idle for too long.
pub(crate) fn live(session: &Session, now: Timestamp) -> bool {
    session.revoked_at.is_none() && now < until(session)
}

fn holds_still(session: &Session, key: &str, now: Timestamp) -> bool {
    session.previous.as_ref().is_some_and(|(before, until)| before == key && now < *until)
}

/// Expiry of a session without further use.
pub(crate) fn until(session: &Session) -> Timestamp {
    session.expires_at.min(session.renewed_at.plus(IDLE))
}
