//! The attempts over time, drawn by the script from the data here.

use askama::Template;
use axum::response::Response;
use serde_json::{Value, json};

use super::head::Head;
use crate::error::ApiResult;
use crate::pages::{Frame, html};
use crate::runs::{Reader, describe};
use crate::state::Web;

/// The most attempts that are drawn.
const BARS: usize = 2000;

#[derive(Template)]
#[template(path = "run/gantt.html")]
struct GanttPage {
    frame: Frame,
    head: Head,
    /// `{now, bars: [{task, instance, attempt, ready?, created, started?, ended?, state}]}`; times in milliseconds
    /// since the epoch.
    gantt: Value,
    more: usize,
}

pub(super) async fn page(web: &Web, frame: Frame, head: Head, reader: &Reader<'_>) -> ApiResult<Response> {
    let attempts = web.store().attempts(&reader.record.id).await?;
    let more = attempts.len().saturating_sub(BARS);
    let bars: Vec<Value> = attempts
        .iter()
        .take(BARS)
        .map(|attempt| {
            let task = reader.plan.task(attempt.task);
            let view = describe::attempt(attempt, task);
            json!({
                "task": view.task,
                "instance": view.instance,
                "attempt": view.attempt,
                "created": millis(Some(view.created_at)),
                "started": millis(view.started_at),
                "ended": millis(view.ended_at),
                "state": view.outcome.unwrap_or(view.state),
            })
        })
        .collect();
    let gantt = json!({ "now": millis(Some(head.now)), "bars": bars });
    html(&GanttPage { frame, head, gantt, more })
}

fn millis(time: Option<crate::time::Time>) -> Option<f64> {
    time.map(|time| time.0.0 as f64 / 1000.0)
}
