//! Manifests submitted to the cluster for a task.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde_json::Value;

use super::Asked;
use super::head::Head;
use crate::api::runs::objects::{self, ObjectsQuery};
use crate::api::runs::view::ObjectsView;
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::pages::{Frame, html};
use crate::runs::Reader;
use crate::state::Web;
use crate::texts::Lang;

#[derive(Template)]
#[template(path = "run/objects.html")]
struct ObjectsPage {
    frame: Frame,
    head: Head,
    tasks: Vec<String>,
    task: String,
    instances: u64,
    view: ObjectsView,
    /// Submitted script, for clusters that take one.
    script: String,
    text: String,
}

pub(super) async fn page(
    web: &Web,
    frame: Frame,
    head: Head,
    reader: &Reader<'_>,
    asked: &Asked,
) -> ApiResult<Response> {
    let tasks: Vec<String> = reader.plan.tasks.iter().map(|task| task.name.clone()).collect();
    let first = tasks.first().cloned().unwrap_or_default();
    let task = if asked.task.is_empty() { first } else { asked.task.clone() };
    let index = reader.find(&task)?;
    let query = ObjectsQuery { task: task.clone(), instance: asked.instance.parse().ok() };
    let run = Path(reader.record.id.clone());
    let view = objects::objects(State(web.clone()), Lang::En, run, Query(query)).await?.0;
    let script = view.object.as_ref().and_then(|object| object.get("script")).and_then(Value::as_str);
    let text = view.object.as_ref().and_then(|object| serde_json::to_string_pretty(object).ok());
    html(&ObjectsPage {
        instances: reader.instances(index.0),
        script: script.unwrap_or_default().to_owned(),
        text: text.unwrap_or_default(),
        frame,
        head,
        tasks,
        task,
        view,
    })
}
