//! A project, as the API shows it.

use std::collections::BTreeMap;

use cubeloom_domain::identity::{Project, Role};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::{self, Caller};
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
    let projects = auth::visible(web, caller).await?;
    let roles: BTreeMap<String, Role> = web.store().roles(&caller.user.id).await?.into_iter().collect();
    let with_role = |project: Project| {
        let role = roles.get(&project.name).copied();
        (project, role)
    };
    Ok(projects.into_iter().map(with_role).collect())
}
