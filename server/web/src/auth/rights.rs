//! Permissions of callers.

use cubeloom_domain::RunId;
use cubeloom_domain::identity::{Project, Role};

use super::{Caller, Via, session, tokens};
use crate::error::ApiResult;
use crate::state::Web;

/// The caller's role in a project. `None` if the project does not exist or the caller is no member.
pub(crate) async fn role_in(web: &Web, caller: &Caller, project: &str) -> ApiResult<Option<Role>> {
    if caller.via.bound_to().is_some_and(|only| only != project) {
        return Ok(None);
    }
    if caller.user.admin {
        let all = web.people().projects(web.store()).await?;
        return Ok(all.iter().any(|known| known.name == project).then_some(Role::Owner));
    }
    let person = web.people().person(web.store(), &caller.user.id).await?;
    let place = person.and_then(|person| {
        let mut places = person.roles.iter();
        places.find(|(name, _)| name == project).map(|(_, role)| *role)
    });
    Ok(place)
}

/// The project that a run belongs to.
pub(crate) async fn project_of_run(web: &Web, run: &RunId) -> ApiResult<Option<String>> {
    web.people().project_of_run(web.store(), run).await
}

/// Names of the projects that the caller can see, for lists across projects. `None` means all.
pub async fn projects_of(web: &Web, caller: &Caller) -> ApiResult<Option<Vec<String>>> {
    if let Some(only) = caller.via.bound_to() {
        let seen = role_in(web, caller, only).await?.is_some();
        return Ok(Some(if seen { vec![only.to_owned()] } else { Vec::new() }));
    }
    if caller.user.admin {
        return Ok(None);
    }
    let person = web.people().person(web.store(), &caller.user.id).await?;
    Ok(Some(
        person.map(|person| person.roles.iter().map(|(name, _)| name.clone()).collect()).unwrap_or_default(),
    ))
}

/// Projects that the caller can see, by name.
pub(crate) async fn visible(web: &Web, caller: &Caller) -> ApiResult<Vec<Project>> {
    let names = projects_of(web, caller).await?;
    let all = web.people().projects(web.store()).await?;
    let sees = |project: &&Project| names.as_ref().is_none_or(|names| names.contains(&project.name));
    Ok(all.iter().filter(sees).cloned().collect())
}

/// Whether the caller's permissions still hold: the session or token is valid, the account is enabled, and
/// the caller is still an administrator or has the role in the request's project. Streams check this every
/// few seconds.
pub async fn still_valid(web: &Web, caller: &Caller) -> ApiResult<bool> {
    let holds = match &caller.via {
        Via::Session { id } => session::holds(web, id).await?,
        Via::Token { id, .. } => tokens::holds(web, id).await?,
    };
    let person = web.people().person(web.store(), &caller.user.id).await?;
    let Some(person) = person.filter(|person| holds && !person.user.disabled) else { return Ok(false) };
    if caller.user.admin && !person.user.admin {
        return Ok(false);
    }
    let Some(project) = &caller.project else { return Ok(true) };
    let now = Caller { user: person.user.clone(), ..caller.clone() };
    Ok(role_in(web, &now, project).await? >= caller.role)
}
