//! There and back: to the provider's page, and with its answer.

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

/// How long somebody may take at the provider, in seconds.
const PATIENCE: i64 = 600;

/// What the browser keeps meanwhile.
#[derive(Serialize, Deserialize)]
struct Underway {
    state: String,
    nonce: String,
    verifier: String,
    next: String,
    /// The person who wants to be known by what the provider says; absent when somebody signs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    connect: Option<String>,
    exp: i64,
}

/// What the provider sends back in the URL.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    code: Option<String>,
    #[serde(default)]
    state: String,
}

/// What came of going there.
pub(crate) enum Back {
    /// Somebody has signed in, and wanted to go here.
    SignedIn(Box<User>, String),
    /// Somebody who was signed in is known by what the provider says from now on.
    Connected,
}

/// The provider's page, and the cookie for coming back. `connect` is the id of whoever wants to be known by what the
/// provider says.
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

/// Takes whoever has come back; `caller` is who is signed in here already.
pub(crate) async fn finish(
    web: &Web,
    visitor: &Visitor,
    caller: Option<&Caller>,
    headers: &HeaderMap,
    answer: Answer,
) -> ApiResult<Back> {
    let provider = configured(web)?;
    let underway = kept(web, headers).ok_or_else(|| failed("nobody went there from this browser lately"))?;
    if !bool::from(underway.state.as_bytes().ct_eq(answer.state.as_bytes())) {
        return Err(failed("the answer belongs to another sign-in"));
    }
    let code = answer.code.ok_or_else(|| failed("the provider did not let you in"))?;
    let person = ask(web, provider, &underway, code).await?;
    let Some(wanted) = underway.connect else {
        return Ok(Back::SignedIn(
            Box::new(account::of(web, visitor, provider, &person).await?),
            underway.next,
        ));
    };
    let same = |caller: &&Caller| caller.user.id == wanted && matches!(caller.via, Via::Session { .. });
    let caller =
        caller.filter(same).ok_or_else(|| failed("whoever went there is not signed in here any more"))?;
    account::connect(web, provider, caller, person).await?;
    Ok(Back::Connected)
}

/// Who the provider says has come, for the code that they bring.
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
        .map_err(|error| failed("the provider did not accept its own answer").caused_by(error))?;
    let token = tokens.id_token().ok_or_else(|| failed("the provider did not say who you are"))?;
    let verifier = client.id_token_verifier();
    let claims = token.claims(&verifier, &Nonce::new(underway.nonce.clone()));
    let claims =
        claims.map_err(|error| failed("what the provider says is not signed by it").caused_by(error))?;
    if let Some(expected) = claims.access_token_hash() {
        let (algorithm, key) = (token.signing_alg(), token.signing_key(&verifier));
        let hash = algorithm.ok().zip(key.ok()).and_then(|(algorithm, key)| {
            AccessTokenHash::from_token(tokens.access_token(), algorithm, key).ok()
        });
        if hash.as_ref() != Some(expected) {
            return Err(failed("what the provider says does not fit together"));
        }
    }
    Ok(person(provider, claims))
}

/// Removes the cookie for coming back.
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
