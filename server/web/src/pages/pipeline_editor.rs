//! `GET /projects/{project}/pipelines/{pipeline}/edit` and `/projects/{project}/new-pipeline/canvas`: the
//! editor. The page contains the document. The rest is `frontend/src/editor`.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_compiler::plain;
use serde_json::{Value, json};

use super::new_pipeline::named;
use super::{Frame, carried, html};
use crate::assets::{self, Ahead};
use crate::error::{ApiError, ApiResult};
use crate::extract::Path;
use crate::state::Web;

/// An empty pipeline, to drag tasks to.
const EMPTY: &str = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: my-pipeline\ntasks: []\n";

#[derive(Template)]
#[template(path = "pipeline-editor.html")]
struct EditorPage {
    frame: Frame,
    project: String,
    title: String,
    /// URL of the back link.
    back: String,
    /// Preloads of the editor's script.
    ahead: Ahead,
    /// Data for the script, as JSON.
    carried: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Path((project, name)): Path<(String, String)>,
) -> ApiResult<Response> {
    let newest = web.store().newest(&project, &name).await?;
    let newest = newest.ok_or_else(|| ApiError::not_found("pipeline", &name))?;
    let back = format!("/projects/{project}/pipelines/{name}");
    let start = json!({
        "project": project,
        "pipeline": name,
        "version": newest.version,
        "document": newest.document,
        "value": plain(&newest.document),
        "code": newest.code,
        "readOnly": !frame.may_edit(),
        "user": frame.user_name(),
    });
    page(frame, project, name, back, &start)
}

pub(crate) async fn empty(
    State(web): State<Web>,
    frame: Frame,
    Path(project): Path<String>,
) -> ApiResult<Response> {
    let document = named(&web, &project, EMPTY).await?;
    let title = frame.t("pipeline.new").to_owned();
    let back = format!("/projects/{project}/pipelines");
    let start = json!({
        "project": project,
        "document": document,
        "value": plain(&document),
        "readOnly": false,
        "user": frame.user_name(),
    });
    page(frame, project, title, back, &start)
}

fn page(frame: Frame, project: String, title: String, back: String, start: &Value) -> ApiResult<Response> {
    let ahead = assets::ahead("src/pages/pipeline-editor.ts");
    let carried = carried(start)?;
    html(&EditorPage { frame, project, title, back, ahead, carried })
}
