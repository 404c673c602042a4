//! `GET /projects`: the reader's projects.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

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

/// The word for a role.
pub(super) fn word<'f>(frame: &'f Frame, role: &str) -> &'f str {
    match role {
        "owner" => frame.t("projects.role-owner"),
        "editor" => frame.t("projects.role-editor"),
        _ => frame.t("projects.role-viewer"),
    }
}

pub(crate) async fn show(State(web): State<Web>, caller: Caller, frame: Frame) -> ApiResult<Response> {
    let projects = visible(&web, &caller).await?;
    let projects = projects.into_iter().map(|(project, role)| ProjectView::new(project, role)).collect();
    html(&ProjectsPage { frame, projects })
}
