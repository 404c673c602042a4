//! API tokens: `clt_<id>_<secret>`, shown once and stored as a hash.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use cubeloom_domain::identity::{ApiToken, Scope, User};
use cubeloom_domain::{Code, Problem, Timestamp};
use serde_json::json;

use super::{Caller, Via, Visitor, secret};
use crate::audit::{Act, Actor, Entry};
use crate::error::{ApiError, ApiResult, Kind};
use crate::state::Web;
use crate::time::maybe;

/// Prefix of every token, so that secret scanners find leaked ones.
const PREFIX: &str = "clt_";
/// Maximum length of a token's name, in characters.
const NAME: usize = 100;

/// Token to create.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Name that the user gave the token.
    pub name: String,
    pub scope: Scope,
    /// Project to which the token is restricted, if set.
    pub project: Option<String>,
    /// Expiry time. If omitted, the token never expires.
    pub expires_at: Option<Timestamp>,
}

/// Creates a token for a user. The text is the token itself, which cannot be read again.
///
/// # Errors
/// The name, the project or the expiry is invalid.
pub async fn create(act: &Act<'_>, user: &User, wanted: NewToken) -> ApiResult<(ApiToken, String)> {
    let (token, shown) = prepare(act, user, wanted).await?;
    act.store.create_token(&token, &created(act, &token, user)).await?;
    Ok((token, shown))
}

/// Validates a new token, and chooses its secret. The text is the token itself.
pub(super) async fn prepare(act: &Act<'_>, user: &User, wanted: NewToken) -> ApiResult<(ApiToken, String)> {
    check(act, user, &wanted).await?;
    let text = secret::new();
    let token = ApiToken {
        id: secret::new_id(act.now),
        user_id: user.id.clone(),
        name: wanted.name.trim().to_owned(),
        hash: secret::hash(&text),
        scope: wanted.scope,
        project: wanted.project,
        created_at: act.now,
        expires_at: wanted.expires_at,
        used_at: None,
        revoked_at: None,
    };
    let shown = format!("{PREFIX}{}_{text}", token.id);
    Ok((token, shown))
}

/// Audit entry of a new token.
pub(super) fn created(act: &Act<'_>, token: &ApiToken, user: &User) -> Entry {
    act.entry("token.create", &token.id).after(about(token, user))
}

/// Revokes a token. Returns `false` if it was revoked already.
pub async fn revoke(act: &Act<'_>, token: &ApiToken, user: &User) -> ApiResult<bool> {
    let entry = act.entry("token.revoke", &token.id).before(about(token, user));
    Ok(act.store.revoke_token(&token.id, &entry).await?)
}

/// Revokes a token for the program that has it (RFC 7009). Nothing happens if it is not valid.
pub(crate) async fn give_back(web: &Web, visitor: &Visitor, text: &str) -> ApiResult<()> {
    let Some((id, text)) = split(text) else { return Ok(()) };
    let token = web.store().token(id).await?.filter(|token| secret::fits(text, &token.hash));
    let Some(token) = token else { return Ok(()) };
    let Some(user) = web.store().user(&token.user_id).await? else { return Ok(()) };
    let actor = Actor {
        user_id: Some(user.id.clone()),
        user_name: user.name.clone(),
        via: via(&token).describe(),
        address: visitor.address.clone(),
        project: None,
    };
    revoke(&Act::by(web, actor), &token, &user).await?;
    web.people().forget();
    Ok(())
}

/// Whether the user may have such a token.
pub(super) async fn check(act: &Act<'_>, user: &User, wanted: &NewToken) -> ApiResult<()> {
    let mut problems = Vec::new();
    let mut wrong = |path: &str, message: String| {
        problems.push(Problem::error(Code::InvalidValue, path, message));
    };
    let name = wanted.name.trim();
    if name.is_empty() || name.chars().count() > NAME || name.chars().any(char::is_control) {
        wrong(
            "/name",
            format!("enter a token name of 1 to {NAME} characters, such as the program that uses it"),
        );
    }
    if wanted.expires_at.is_some_and(|until| until <= act.now) {
        wrong("/expires_at", "the expiry is in the past: choose a later time".into());
    }
    if let Some(project) = &wanted.project {
        let there = act.store.project(project).await?.is_some();
        if !there || !(user.admin || act.store.role(project, &user.id).await?.is_some()) {
            wrong("/project", format!("{} is not a member of a project `{project}`", user.name));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(ApiError::invalid(problems)) }
}

/// Token as the audit log records it.
fn about(token: &ApiToken, user: &User) -> serde_json::Value {
    json!({
        "name": token.name,
        "user": user.name,
        "scope": token.scope.as_str(),
        "project": token.project,
        "expires_at": maybe(token.expires_at),
    })
}

/// The `Authorization` header as sent, valid or not.
pub(crate) fn sent(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()
}

/// The caller from the request's token. `None` without one.
pub(crate) async fn caller(web: &Web, headers: &HeaderMap, address: String) -> ApiResult<Option<Caller>> {
    let Some(value) = headers.get(AUTHORIZATION) else { return Ok(None) };
    let (id, text) = value.to_str().ok().and_then(parts).ok_or_else(|| {
        refused("the header Authorization must be `Bearer` and a token that begins with clt_")
    })?;
    let token = web.people().token(web.store(), id).await?;
    let token = token.filter(|token| secret::fits(text, &token.hash));
    let token = token.ok_or_else(|| refused("this token does not exist: create a new one"))?;
    if token.revoked_at.is_some() {
        return Err(refused("this token was revoked: create a new one"));
    }
    if !live(&token, web.now()) {
        return Err(refused("this token has expired: create a new one"));
    }
    let person = web.people().person(web.store(), &token.user_id).await?;
    let person = person.filter(|person| !person.user.disabled);
    let person = person.ok_or_else(|| refused("the user of this token may no longer sign in"))?;
    note_use(web, &token);
    let (user, via) = (person.user.clone(), via(&token));
    Ok(Some(Caller { user, via, address, scope: token.scope, project: None, role: None }))
}

fn via(token: &ApiToken) -> Via {
    Via::Token { id: token.id.clone(), name: token.name.clone(), project: token.project.clone() }
}

/// `Bearer clt_<id>_<secret>`
fn parts(header: &str) -> Option<(&str, &str)> {
    let (scheme, token) = header.split_once(' ')?;
    split(token).filter(|_| scheme.eq_ignore_ascii_case("bearer"))
}

/// `clt_<id>_<secret>`
fn split(token: &str) -> Option<(&str, &str)> {
    token.trim().strip_prefix(PREFIX)?.split_once('_')
}

fn refused(detail: &str) -> ApiError {
    ApiError::new(Kind::NotSignedIn, detail)
}

/// Whether a token is still valid.
pub(crate) async fn holds(web: &Web, id: &str) -> ApiResult<bool> {
    let token = web.people().token(web.store(), id).await?;
    Ok(token.is_some_and(|token| live(&token, web.now())))
}

fn live(token: &ApiToken, now: Timestamp) -> bool {
    token.revoked_at.is_none() && token.expires_at.is_none_or(|until| now < until)
}

/// Records the use of a token in the background, once a minute.
fn note_use(web: &Web, token: &ApiToken) {
    if !web.people().first_use_in_a_while(&token.id) {
        return;
    }
    let (web, id, user) = (web.clone(), token.id.clone(), token.user_id.clone());
    tokio::spawn(async move {
        let now = web.now();
        let noted = async {
            web.store().token_used(&id, now).await?;
            web.store().seen(&user, now).await
        };
        if let Err(error) = noted.await {
            tracing::debug!(%error, "cannot record the use of a token");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_may_hold_the_sign_that_parts_it_from_the_id() {
        assert_eq!(parts("Bearer clt_01h_a_b-c"), Some(("01h", "a_b-c")));
        assert_eq!(parts("bearer  clt_01h_x"), Some(("01h", "x")));
        for wrong in ["Bearer 01h_x", "Basic clt_01h_x", "clt_01h_x", "Bearer clt_x", ""] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }
}
