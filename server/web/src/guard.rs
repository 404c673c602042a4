//! Before every handler: whose request is it, and may they? What it decides by is [`crate::policy::POLICY`].

use axum::RequestPartsExt;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::RunId;
use cubeloom_domain::identity::Role;

use crate::auth::{self, Caller};
use crate::error::{ApiError, ApiResult, Kind};
use crate::policy::{self, Needs, Rule};
use crate::state::Web;

/// The middleware around every route.
pub(crate) async fn guard(State(web): State<Web>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut cookie = None;
    let checked = check(&web, &mut parts, &mut cookie).await;
    let mut response = match checked {
        Ok((rule, caller)) => {
            if let Some(caller) = &caller {
                parts.extensions.insert(caller.clone());
            }
            let mut response = next.run(Request::from_parts(parts, body)).await;
            if rule.changes_rights() {
                web.people().forget();
            }
            // For the page of a refusal.
            response.extensions_mut().insert(Seen(caller));
            response
        }
        Err(error) => error.into_response(),
    };
    if let Some(cookie) = cookie
        && !auth::cookie::is_set(&web, response.headers())
    {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// Who was let in.
#[derive(Clone)]
pub(crate) struct Seen(pub Option<Caller>);

/// The caller, if there is one, when they may call this route; and the cookie that the answer is to set.
async fn check(
    web: &Web,
    parts: &mut Parts,
    cookie: &mut Option<HeaderValue>,
) -> ApiResult<(&'static Rule, Option<Caller>)> {
    let route =
        parts.extensions.get::<MatchedPath>().map(|path| path.as_str().to_owned()).unwrap_or_default();
    let rule = policy::rule(&parts.method, &route).ok_or_else(|| {
        ApiError::new(Kind::Internal, format!("{} {route} has no row in the policy", parts.method))
    })?;
    auth::csrf::check(web, parts)?;
    let found = match auth::identify(web, parts).await {
        // A cookie that has run out must not keep anybody from signing in again.
        Err(error) if rule.needs == Needs::Anyone && error.kind() == Kind::NotSignedIn => None,
        other => other?,
    };
    let Some((mut caller, renewed)) = found else {
        return if rule.needs == Needs::Anyone { Ok((rule, None)) } else { Err(auth::not_signed_in()) };
    };
    *cookie = renewed;
    if let Some(project) = project_of(web, parts).await? {
        caller.role = auth::role_in(web, &caller, &project).await?;
        caller.project = Some(project);
    }
    allow(rule, &caller)?;
    Ok((rule, Some(caller)))
}

/// The project that a route is about.
async fn project_of(web: &Web, parts: &mut Parts) -> ApiResult<Option<String>> {
    let Ok(params) = parts.extract::<RawPathParams>().await else { return Ok(None) };
    for (name, value) in &params {
        match name {
            "project" => return Ok(Some(value.to_owned())),
            "run" => {
                let missing = || ApiError::not_found("run", value);
                let id: RunId = value.parse().map_err(|_| missing())?;
                return Ok(Some(auth::project_of_run(web, &id).await?.ok_or_else(missing)?));
            }
            _ => {}
        }
    }
    Ok(None)
}

fn allow(rule: &Rule, caller: &Caller) -> ApiResult<()> {
    // What everybody may do, nobody loses by showing who they are.
    if rule.needs == Needs::Anyone {
        return Ok(());
    }
    if caller.scope < rule.scope {
        let wanted = rule.scope.as_str();
        return Err(ApiError::forbidden(format!(
            "this token may not do it: a token with the scope `{wanted}` may"
        )));
    }
    if caller.via.bound_to().is_some() && rule.reaches_beyond_a_project() {
        return Err(ApiError::forbidden(
            "this token is for one project only: it may not change anything else",
        ));
    }
    let least = match rule.needs {
        Needs::Anyone | Needs::Person => return Ok(()),
        Needs::Administrator if caller.user.admin => return Ok(()),
        Needs::Administrator => {
            return Err(ApiError::forbidden("only administrators of the platform may do this"));
        }
        Needs::Viewer => Role::Viewer,
        Needs::Editor => Role::Editor,
        Needs::Owner => Role::Owner,
    };
    let project = caller.project.as_deref().unwrap_or_default();
    match caller.role {
        Some(role) if role >= least => Ok(()),
        Some(role) => Err(ApiError::forbidden(format!(
            "you are {} of the project `{project}`: only its {}s may do this; its owners can change that",
            role.as_str(),
            least.as_str()
        ))),
        // Whoever is no member does not learn whether there is such a project.
        None => Err(ApiError::not_found("project", project)),
    }
}
