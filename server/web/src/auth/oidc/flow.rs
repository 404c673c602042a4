//! The authorization code flow: the redirect to the provider, and the callback.

use axum::http::{HeaderMap, HeaderValue};
use axum_extra::extract::CookieJar;
use cubeloom_domain::identity::User;
use openidconnect::core::CoreAuthenticationFlow;
use openidconnect::{
    AccessTokenHash, AuthorizationCode, ClientId, ClientSecret, CsrfToken, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope, TokenResponse,
};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::claims::{Claims, OfProvider};
use super::{Provider, account, away};
use crate::auth::{Caller, Via, Visitor, cookie, secret};
use crate::error::{ApiError, ApiResult, Kind};
use crate::state::Web;

/// Timeout of the sign-in at the provider, in seconds.
const PATIENCE: i64 = 600;

/// State kept in the browser's cookie during the flow.
#[derive(Serialize, Deserialize)]
struct Underway {
    state: String,
    nonce: String,
    verifier: String,
    next: String,
    /// Id of the user who connects their account. `None` for a sign-in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    connect: Option<String>,
    exp: i64,
}

/// Query parameters of the callback.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    code: Option<String>,
    #[serde(default)]
    state: String,
}

/// Result of the flow.
pub(crate) enum Back {
    /// The user signed in, with the path to continue at.
    SignedIn(Box<User>, String),
    /// The signed-in user connected their account to the provider.
    Connected,
}

/// URL of the provider's page, and the cookie with the flow's state. `connect` is the id of the user who
/// connects their account.
pub(crate) async fn begin(
    web: &Web,
    next: &str,
    connect: Option<String>,
) -> ApiResult<(String, HeaderValue)> {
    let provider = configured(web)?;
    let client = client(web, provider).await?;
    let underway = Underway {
        state: secret::new(),
        nonce: secret::new(),
        verifier: secret::new(),
        next: next.to_owned(),
        connect,
        exp: cookie::seconds(web.now()) + PATIENCE,
    };
    let verifier = PkceCodeVerifier::new(underway.verifier.clone());
    let (state, nonce) = (CsrfToken::new(underway.state.clone()), Nonce::new(underway.nonce.clone()));
    let scopes = provider.settings.scopes.iter().cloned().map(Scope::new);
    let (url, ..) = client
        .authorize_url(CoreAuthenticationFlow::AuthorizationCode, move || state, move || nonce)
        .add_scopes(scopes)
        .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
        .url();
    let kept = cookie::set(web, name(web), &cookie::sign(web, &underway)?, PATIENCE)?;
    Ok((url.into(), kept))
}

/// Handles the callback. `caller` is the user who is signed in already.
pub(crate) async fn finish(
    web: &Web,
    visitor: &Visitor,
    caller: Option<&Caller>,
    headers: &HeaderMap,
    answer: Answer,
) -> ApiResult<Back> {
    let provider = configured(web)?;
    let underway =
        kept(web, headers).ok_or_else(|| failed("this browser has not started a sign-in recently"))?;
    if !bool::from(underway.state.as_bytes().ct_eq(answer.state.as_bytes())) {
        return Err(failed("the response belongs to another sign-in"));
    }
    let code = answer.code.ok_or_else(|| failed("the provider denied access"))?;
    let person = ask(web, provider, &underway, code).await?;
    let Some(wanted) = underway.connect else {
        return Ok(Back::SignedIn(
            Box::new(account::of(web, visitor, provider, &person).await?),
            underway.next,
        ));
    };
    let same = |caller: &&Caller| caller.user.id == wanted && matches!(caller.via, Via::Session { .. });
    let caller =
        caller.filter(same).ok_or_else(|| failed("the user who started this is no longer signed in"))?;
    account::connect(web, provider, caller, person).await?;
    Ok(Back::Connected)
}

/// Exchanges the code for the user's claims.
async fn ask(
    web: &Web,
    provider: &Provider,
    underway: &Underway,
    code: String,
) -> ApiResult<account::Person> {
    let client = client(web, provider).await?;
    let request = client.exchange_code(AuthorizationCode::new(code)).map_err(ApiError::internal)?;
    let request = request.set_pkce_verifier(PkceCodeVerifier::new(underway.verifier.clone()));
    let tokens = request
        .request_async(provider.http()?)
        .await
        .map_err(|error| failed("the provider rejected its own authorization code").caused_by(error))?;
    let token = tokens.id_token().ok_or_else(|| failed("the provider sent no ID token"))?;
    let verifier = client.id_token_verifier();
    let claims = token.claims(&verifier, &Nonce::new(underway.nonce.clone()));
    let claims = claims.map_err(|error| failed("the provider's ID token is invalid").caused_by(error))?;
    if let Some(expected) = claims.access_token_hash() {
        let (algorithm, key) = (token.signing_alg(), token.signing_key(&verifier));
        let hash = algorithm.ok().zip(key.ok()).and_then(|(algorithm, key)| {
            AccessTokenHash::from_token(tokens.access_token(), algorithm, key).ok()
        });
        if hash.as_ref() != Some(expected) {
            return Err(failed("the provider's ID token does not match its access token"));
        }
    }
    Ok(person(provider, claims))
}

/// Removes the cookie with the flow's state.
pub(crate) fn done(web: &Web) -> ApiResult<HeaderValue> {
    cookie::set(web, name(web), "", 0)
}

fn person(provider: &Provider, claims: &Claims) -> account::Person {
    let verified = claims.email_verified().unwrap_or(false);
    let settings = &provider.settings;
    let in_group = |group: &String| claims.additional_claims().lists(&settings.groups_claim, group);
    account::Person {
        issuer: settings.issuer.clone(),
        subject: claims.subject().to_string(),
        name: claims.preferred_username().map(|name| name.to_string()),
        display_name: claims.name().and_then(|name| name.get(None)).map(|name| name.to_string()),
        email: claims.email().filter(|_| verified).map(|email| email.to_string()),
        admin: settings.admin_group.as_ref().map(in_group),
    }
}

fn configured(web: &Web) -> ApiResult<&Provider> {
    web.oidc().ok_or_else(|| ApiError::not_found("provider", "here"))
}

async fn client(web: &Web, provider: &Provider) -> ApiResult<OfProvider> {
    let metadata = provider.metadata(web.now()).await?;
    let settings = &provider.settings;
    let secret = settings.client_secret.clone().map(ClientSecret::new);
    let back = format!("{}/sign-in/oidc/callback", web.settings().url);
    let back = RedirectUrl::new(back).map_err(away)?;
    let id = ClientId::new(settings.client_id.clone());
    Ok(OfProvider::from_provider_metadata(metadata, id, secret).set_redirect_uri(back))
}

fn kept(web: &Web, headers: &HeaderMap) -> Option<Underway> {
    let jar = CookieJar::from_headers(headers);
    let underway: Underway = cookie::check(web, jar.get(name(web))?.value())?;
    (underway.exp > cookie::seconds(web.now())).then_some(underway)
}

fn name(web: &Web) -> &'static str {
    if web.is_secure() { "__Host-oidc" } else { "oidc" }
}

fn failed(why: &str) -> ApiError {
    ApiError::new(Kind::Malformed, format!("{why}: sign in again"))
}
