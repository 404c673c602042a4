//! A project, as the API shows it.

use cubeloom_domain::identity::{Project, Role};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::{Caller, Via};
use crate::error::ApiResult;
use crate::state::Web;
use crate::time::Time;

/// A project.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectView {
    /// The name: letters, digits and `-`; it never changes.
    pub name: String,
    /// What it is called.
    pub label: String,
    /// What it is for.
    pub description: String,
    /// What you may do in it: `viewer`, `editor` or `owner`; absent for administrators who are no members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// Since when there is one.
    pub created_at: Time,
    /// Counts its changes, from 1: its ETag.
    pub revision: u64,
}

impl ProjectView {
    /// A project, to somebody with this role.
    pub fn new(project: Project, role: Option<Role>) -> Self {
        Self {
            name: project.name,
            label: project.label,
            description: project.description,
            role: role.map(Role::as_str),
            created_at: Time(project.created_at),
            revision: project.revision,
        }
    }
}

/// The projects that somebody may see, by name, with their role there.
///
/// # Errors
/// When the database does not answer.
pub(crate) async fn visible(web: &Web, caller: &Caller) -> ApiResult<Vec<(Project, Option<Role>)>> {
    let user = &caller.user;
    let mut roles = web.store().roles(&user.id).await?;
    let mut projects = web.store().projects((!user.admin).then_some(user.id.as_str())).await?;
    if let Via::Token { project: Some(only), .. } = &caller.via {
        projects.retain(|project| project.name == *only);
    }
    let mut role = |name: &str| {
        let at = roles.iter().position(|(project, _)| project == name)?;
        Some(roles.swap_remove(at).1)
    };
    Ok(projects
        .into_iter()
        .map(|project| (role(&project.name), project))
        .map(|(role, project)| (project, role))
        .collect())
}
