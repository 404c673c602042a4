//! Authenticates and authorizes every request before its handler, by [`crate::policy::POLICY`].

use axum::RequestPartsExt;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::RunId;
use cubeloom_domain::identity::Role;

use crate::audit::{self, Act, Download};
use crate::auth::{self, Caller};
use crate::error::{ApiError, ApiResult, Kind};
use crate::limits::Standing;
use crate::policy::{self, Needs, Rule};
use crate::state::Web;

/// Middleware of every route.
pub(crate) async fn guard(State(web): State<Web>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut extras = Extras::default();
    let checked = check(&web, &mut parts, &mut extras).await;
    let mut response = match checked {
        Ok((rule, caller)) => {
            let download = Download::asked(&web, &mut parts, rule, caller.as_ref()).await;
            if let Some(caller) = &caller {
                parts.extensions.insert(caller.clone());
            }
            parts.extensions.insert(rule);
            let mut response = next.run(Request::from_parts(parts, body)).await;
            // A refused request changed nothing. After a server error, a change is possible.
            if rule.changes_rights() && !response.status().is_client_error() {
                web.people().forget();
            }
            let download = download.and_then(|download| download.answered(&response));
            if let Some(download) = download {
                download.note(&web).await;
            }
            // For error pages.
            response.extensions_mut().insert(Seen(caller));
            response
        }
        Err(error) => error.into_response(),
    };
    extras.put(&web, response.headers_mut());
    response
}

/// The authorized caller.
#[derive(Clone)]
pub(crate) struct Seen(pub Option<Caller>);

/// Additions to the handler's response.
#[derive(Default)]
struct Extras {
    /// New session cookie.
    cookie: Option<HeaderValue>,
    /// Remaining rate limit of the caller.
    standing: Option<Standing>,
}

impl Extras {
    fn put(self, web: &Web, headers: &mut HeaderMap) {
        if let Some(cookie) = self.cookie
            && !auth::cookie::is_set(web, headers)
        {
            headers.append(header::SET_COOKIE, cookie);
        }
        if let Some(standing) = self.standing {
            standing.put(headers);
        }
    }
}

/// Checks that the caller may call this route. Returns the caller, if there is one.
async fn check(
    web: &Web,
    parts: &mut Parts,
    extras: &mut Extras,
) -> ApiResult<(&'static Rule, Option<Caller>)> {
    let route =
        parts.extensions.get::<MatchedPath>().map(|path| path.as_str().to_owned()).unwrap_or_default();
    let rule = policy::rule(&parts.method, &route).ok_or_else(|| {
        ApiError::new(Kind::Internal, format!("{} {route} has no row in the policy", parts.method))
    })?;
    auth::csrf::check(web, parts)?;
    let Some(mut caller) = identified(web, parts, rule, extras).await? else {
        return if rule.needs == Needs::Anyone { Ok((rule, None)) } else { Err(auth::not_signed_in()) };
    };
    let about = about(web, parts).await?;
    if let Some(about) = &about {
        caller.role = auth::role_in(web, &caller, &about.project).await?;
        caller.project = Some(about.project.clone());
    }
    let allowed = allow(rule, &caller);
    if !matches!(allowed, Ok(Some(()))) {
        let subject = format!("{} {}", parts.method, parts.uri.path());
        audit::refuse(web, &Act::of(web, &caller), "request.refuse", subject).await;
    }
    // Do not disclose to non-members whether a project or run exists.
    allowed?.ok_or_else(|| about.map_or_else(|| ApiError::not_found("project", ""), About::missing))?;
    Ok((rule, Some(caller)))
}

/// Identifies the caller, within the rate limit.
async fn identified(web: &Web, parts: &Parts, rule: &Rule, extras: &mut Extras) -> ApiResult<Option<Caller>> {
    let stranger = |changes: bool| web.rates().of_stranger(&auth::of_client(web, parts), changes);
    // Rate limit unknown tokens before looking them up.
    let tried = auth::tokens::sent(&parts.headers).map(auth::secret::hash);
    let unknown = tried.as_ref().is_some_and(|tried| !web.rates().knows(tried));
    if unknown {
        extras.standing = stranger(true)?;
    }
    let found = match auth::identify(web, parts).await {
        // An expired cookie must not prevent a new sign-in.
        Err(error) if rule.needs == Needs::Anyone && error.kind() == Kind::NotSignedIn => None,
        Err(error) => {
            if !unknown {
                extras.standing = stranger(true)?;
            }
            if let Some(tried) = tried.filter(|_| error.kind() == Kind::NotSignedIn) {
                web.rates().forget(&tried);
            }
            return Err(error);
        }
        Ok(found) => found,
    };
    if let Some(tried) = tried.filter(|_| unknown && found.is_some()) {
        web.rates().know(tried);
    }
    let Some((caller, renewed)) = found else {
        extras.standing = stranger(!parts.method.is_safe())?;
        return Ok(None);
    };
    extras.cookie = renewed;
    extras.standing = web.rates().of_caller(&caller)?;
    Ok(Some(caller))
}

/// Subject of a route.
struct About {
    project: String,
    /// The run, if the route names a run but no project.
    run: Option<String>,
}

impl About {
    /// Not-found error for the subject.
    fn missing(self) -> ApiError {
        match self.run {
            Some(run) => ApiError::not_found("run", run),
            None => ApiError::not_found("project", self.project),
        }
    }
}

async fn about(web: &Web, parts: &mut Parts) -> ApiResult<Option<About>> {
    let Ok(params) = parts.extract::<RawPathParams>().await else { return Ok(None) };
    for (name, value) in &params {
        match name {
            "project" => return Ok(Some(About { project: value.to_owned(), run: None })),
            "run" => {
                let missing = || ApiError::not_found("run", value);
                let id: RunId = value.parse().map_err(|_| missing())?;
                let project = auth::project_of_run(web, &id).await?.ok_or_else(missing)?;
                return Ok(Some(About { project, run: Some(value.to_owned()) }));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Whether the caller has permission. `None` if even the existence must not be disclosed.
fn allow(rule: &Rule, caller: &Caller) -> ApiResult<Option<()>> {
    // Public routes stay available with any credential.
    if rule.needs == Needs::Anyone {
        return Ok(Some(()));
    }
    if caller.scope < rule.scope {
        let wanted = rule.scope.as_str();
        return Err(ApiError::forbidden(format!(
            "this token may not do this: it needs the scope `{wanted}`"
        )));
    }
    if caller.via.bound_to().is_some() && rule.reaches_beyond_a_project() {
        return Err(ApiError::forbidden(
            "this token is for one project only: it may not change anything else",
        ));
    }
    let least = match rule.needs {
        Needs::Anyone | Needs::Person => return Ok(Some(())),
        Needs::Administrator if caller.user.admin => return Ok(Some(())),
        Needs::Administrator => {
            return Err(ApiError::forbidden("only administrators of the platform may do this"));
        }
        Needs::Viewer => Role::Viewer,
        Needs::Editor => Role::Editor,
        Needs::Owner => Role::Owner,
    };
    let project = caller.project.as_deref().unwrap_or_default();
    match caller.role {
        Some(role) if role >= least => Ok(Some(())),
        Some(role) => Err(ApiError::forbidden(format!(
            "you are {} of the project `{project}`: only its {}s may do this; its owners can change that",
            role.as_str(),
            least.as_str()
        ))),
        None => Ok(None),
    }
}
