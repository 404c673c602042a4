//! `GET /projects`: the reader's projects.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::identity::{Project, Role};

use super::{Frame, html};
use crate::api::projects::{ProjectView, visible};
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::state::Web;

#[derive(Template)]
#[template(path = "projects.html")]
struct ProjectsPage {
    frame: Frame,
    projects: Vec<ProjectView>,
}

impl ProjectsPage {
    fn role(&self, role: &str) -> &str {
        word(&self.frame, role)
    }
}

/// Text for a role.
pub(super) fn word<'f>(frame: &'f Frame, role: &str) -> &'f str {
    match role {
        "owner" => frame.t("projects.role-owner"),
        "editor" => frame.t("projects.role-editor"),
        _ => frame.t("projects.role-viewer"),
    }
}

pub(crate) async fn show(State(web): State<Web>, caller: Caller, frame: Frame) -> ApiResult<Response> {
    let projects = visible(&web, &caller).await?;
    let budgets = web.store().budget_standings(web.now()).await?;
    let view = |(project, role): (Project, Option<Role>)| {
        let standing = budgets.get(&project.name);
        ProjectView::new(project, role).with_budget(standing)
    };
    let projects = projects.into_iter().map(view).collect();
    html(&ProjectsPage { frame, projects })
}
