//! The session cookie: a signed JWT with the session's id and its current key.

use axum::http::{HeaderMap, HeaderValue, header};
use axum_extra::extract::CookieJar;
use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::Session;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Claims of the cookie.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub(crate) sid: String,
    /// Key. It must match the session's key.
    pub(crate) key: String,
    /// Time of issue, in seconds since the epoch.
    iat: i64,
    /// Latest expiry, in seconds since the epoch.
    exp: i64,
}

/// Cookie with the session's current key, as a `Set-Cookie` header.
pub(crate) fn of(web: &Web, session: &Session, until: Timestamp) -> ApiResult<HeaderValue> {
    let (now, exp) = (seconds(web.now()), seconds(until));
    let claims = Claims { sid: session.id.clone(), key: session.key.clone(), iat: now, exp };
    set(web, name(web), &sign(web, &claims)?, exp - now)
}

/// Claims of the session cookie, if its signature and time are valid.
pub(crate) fn read(web: &Web, headers: &HeaderMap) -> Option<Claims> {
    let jar = CookieJar::from_headers(headers);
    let claims: Claims = check(web, jar.get(name(web))?.value())?;
    (claims.exp > seconds(web.now())).then_some(claims)
}

/// Whether the request has a session cookie, valid or not.
pub(crate) fn is_there(web: &Web, headers: &HeaderMap) -> bool {
    CookieJar::from_headers(headers).get(name(web)).is_some()
}

/// Whether a response sets or removes the session cookie.
pub(crate) fn is_set(web: &Web, headers: &HeaderMap) -> bool {
    let mut set = headers.get_all(header::SET_COOKIE).iter();
    set.any(|value| {
        value.as_bytes().strip_prefix(name(web).as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
    })
}

/// Removes the session's cookie, as a `Set-Cookie` header.
pub(crate) fn removal(web: &Web) -> ApiResult<HeaderValue> {
    set(web, name(web), "", 0)
}

/// Browsers accept the name with the prefix only over TLS, for this host alone and for all of its paths.
fn name(web: &Web) -> &'static str {
    if web.is_secure() { "__Host-session" } else { "session" }
}

/// A `Set-Cookie` header for an HttpOnly cookie with this lifetime in seconds.
pub(crate) fn set(web: &Web, name: &str, value: &str, seconds: i64) -> ApiResult<HeaderValue> {
    let secure = if web.is_secure() { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).map_err(ApiError::internal)
}

pub(crate) fn sign(web: &Web, claims: &impl Serialize) -> ApiResult<String> {
    let key = EncodingKey::from_secret(&web.keys().signing);
    encode(&Header::new(Algorithm::HS256), claims, &key).map_err(ApiError::internal)
}

/// Claims of a JWT with a valid signature. The caller checks its time, by the server's clock.
pub(crate) fn check<T: DeserializeOwned>(web: &Web, text: &str) -> Option<T> {
    let mut rules = Validation::new(Algorithm::HS256);
    rules.validate_exp = false;
    rules.set_required_spec_claims(&["exp"]);
    let key = DecodingKey::from_secret(&web.keys().signing);
    decode::<T>(text, &key, &rules).ok().map(|token| token.claims)
}

/// Whole seconds since the epoch.
pub(crate) fn seconds(time: Timestamp) -> i64 {
    time.0 / 1_000_000
}
