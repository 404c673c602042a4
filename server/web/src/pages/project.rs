//! `GET /projects/{project}`: settings and members of a project.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::pipeline::SizingMode;

use super::projects::word;
use super::usage::MonthUsage;
use super::{Frame, html};
use crate::api::members::MemberView;
use crate::api::projects::ProjectView;
use crate::archive::takes_logs;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::quotas::all_rooms;
use crate::state::Web;

#[derive(Template)]
#[template(path = "project.html")]
struct ProjectPage {
    frame: Frame,
    project: ProjectView,
    /// Whether owners are asked to turn right-sizing on.
    asks_sizing: bool,
    members: Vec<MemberView>,
    /// Roles of members, the lowest first.
    roles: [&'static str; 3],
    /// Volumes that logs can be archived in.
    stores: Vec<String>,
    /// Existing clusters and node groups.
    pools: Vec<String>,
    /// Allocations and usage of this month.
    usage: MonthUsage,
}

impl ProjectPage {
    fn role(&self, role: &str) -> &str {
        word(&self.frame, role)
    }

    /// Retention of manifests in minutes, for the input field.
    fn minutes(&self) -> String {
        self.project.keeping.objects.map_or(String::new(), |seconds| (seconds as f64 / 60.0).to_string())
    }

    fn is_allowed(&self, pool: &str) -> bool {
        self.project.places.allowed.iter().any(|allowed| allowed == pool)
    }

    fn is_usual(&self, pool: &str) -> bool {
        self.project.places.usual.as_deref() == Some(pool)
    }

    /// Right-sizing modes, with their texts.
    fn sizing_modes(&self) -> [(&'static str, &str); 3] {
        let words = |key| self.frame.t(key);
        [
            ("off", words("projects.sizing-off")),
            ("advise", words("projects.sizing-advise")),
            ("auto", words("projects.sizing-auto")),
        ]
    }

    fn is_sized(&self, mode: &str) -> bool {
        SizingMode::from(self.project.sizing).as_str() == mode
    }

    fn is_store(&self, name: &str) -> bool {
        self.project.keeping.logs.as_deref() == Some(name)
    }

    /// Message about pending log archives.
    fn behind(&self, attempts: usize) -> String {
        match attempts {
            0 => self.frame.t("projects.logs-behind-unknown").to_owned(),
            n => self.frame.t_with("projects.logs-behind", [("n", n)]),
        }
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    caller: Caller,
    frame: Frame,
    Path(name): Path<String>,
) -> ApiResult<Response> {
    let missing = || ApiError::not_found("project", &name);
    let project = web.store().project(&name).await?.ok_or_else(missing)?;
    let members = web.store().members(&name).await?.into_iter().map(MemberView::from).collect();
    let volumes = web.store().volumes(&name).await?.into_iter();
    let stores = volumes.filter(|volume| takes_logs(&volume.place)).map(|volume| volume.name).collect();
    let usage = MonthUsage::of(&web, &name).await?;
    let asks_sizing = project.asks_sizing();
    let project = ProjectView::new(project, caller.role).with_behind(&web);
    let pools = all_rooms(&web).await?.keys().map(ToString::to_string).collect();
    let roles = ["viewer", "editor", "owner"];
    html(&ProjectPage { frame, project, asks_sizing, members, roles, stores, pools, usage })
}
