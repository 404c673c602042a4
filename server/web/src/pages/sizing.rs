//! `GET /projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing`: sizes and usage of a task's attempts,
//! the next recommended size, and its changes.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::{Frame, carried, html};
use crate::api::sizing::shown;
use crate::api::sizing::view::{RoleSizingView, SizeView, SizingView};
use crate::error::ApiResult;
use crate::extract::Path;
use crate::show;
use crate::state::Web;

#[derive(Template)]
#[template(path = "sizing.html")]
struct SizingPage {
    frame: Frame,
    project: String,
    pipeline: String,
    task: String,
    sizing: SizingView,
    /// Data for the script, as JSON.
    carried: String,
}

impl SizingPage {
    /// A size as text.
    fn size(&self, size: &SizeView) -> String {
        let values = [("cpu", show::number(size.cpu)), ("memory", show::bytes(size.memory))];
        self.frame.t_with("sizing.size", values)
    }

    /// Description of a mode.
    fn mode(&self) -> &str {
        self.frame.t(match self.sizing.mode.as_str() {
            "off" => "sizing.mode-off",
            "auto" => "sizing.mode-auto",
            _ => "sizing.mode-advise",
        })
    }

    /// Whether a role has data.
    fn is_known(&self, role: &RoleSizingView) -> bool {
        !role.past.is_empty()
    }

    /// A share in percent.
    fn percent(&self, share: &f64) -> String {
        format!("{} %", show::number((share * 1000.0).round() / 10.0))
    }

    /// OOM risk, if known.
    fn risk(&self, risk: &Option<f64>) -> String {
        risk.as_ref().map_or_else(|| "–".into(), |risk| self.percent(risk))
    }

    /// Run of an attempt, `<run>.<task>.<instance>.<n>`.
    fn run_of<'a>(&self, attempt: &'a str) -> &'a str {
        attempt.split('.').next().unwrap_or_default()
    }
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Path((project, pipeline, task)): Path<(String, String, String)>,
) -> ApiResult<Response> {
    let sizing = shown(&web, &project, &pipeline, &task).await?;
    let carried = carried(&serde_json::json!({ "roles": sizing.roles }))?;
    html(&SizingPage { frame, project, pipeline, task, sizing, carried })
}
