//! Attempts over time. The script draws them from this data.

use std::collections::HashMap;

use askama::Template;
use axum::response::Response;
use cubeloom_domain::record::{AttemptRecord, InstanceRecord};
use cubeloom_domain::state::InstanceState;
use cubeloom_domain::{TaskIx, Timestamp};
use serde_json::{Map, Value, json};

use super::head::Head;
use crate::error::ApiResult;
use crate::pages::{Frame, html};
use crate::runs::{Reader, describe};
use crate::state::Web;
use crate::time::Time;

/// Maximum number of drawn attempts.
const BARS: usize = 2000;

#[derive(Template)]
#[template(path = "run/gantt.html")]
struct GanttPage {
    frame: Frame,
    head: Head,
    /// `{bars: [{task, instance, attempt, ready?, created, started?, ended?, state}], states: {task: state}}`; times in
    /// milliseconds since the epoch.
    gantt: Value,
    more: bool,
}

pub(super) async fn page(web: &Web, frame: Frame, head: Head, reader: &Reader<'_>) -> ApiResult<Response> {
    let (run, store) = (&reader.record.id, web.store());
    let all: u64 = (0..reader.record.tasks).map(|index| reader.instances(index)).sum();
    // With many instances, only the first attempts are drawn, without their wait times.
    let few = all <= BARS as u64;
    let attempts = if few { store.attempts(run).await? } else { first_attempts(web, reader).await? };
    let instances = if few { store.instances(run).await? } else { Vec::new() };
    let more = !few || attempts.len() > BARS;
    let mut ready: HashMap<(TaskIx, u32), Timestamp> =
        instances.iter().map(|one| ((one.task, one.instance), one.ready_at)).collect();
    let bars: Vec<Value> = attempts
        .iter()
        .take(BARS)
        .map(|attempt| {
            // The wait time belongs to the first attempt after the instance became ready.
            let key = (attempt.task, attempt.key.instance);
            let since = ready.get(&key).is_some_and(|ready| *ready <= attempt.created_at);
            bar(reader, attempt, if since { ready.remove(&key) } else { None })
        })
        .collect();
    let waiting = store.waiting_of(run, BARS.saturating_sub(bars.len())).await?;
    let bars: Vec<Value> = bars.into_iter().chain(waiting.iter().map(|one| wait(reader, one))).collect();
    let states: Map<String, Value> = (0u32..)
        .zip(&reader.plan.tasks)
        .map(|(index, task)| (task.name.clone(), reader.state(index).into()))
        .collect();
    html(&GanttPage { frame, head, gantt: json!({ "bars": bars, "states": states }), more })
}

async fn first_attempts(web: &Web, reader: &Reader<'_>) -> ApiResult<Vec<AttemptRecord>> {
    let mut attempts = Vec::new();
    for index in (0..reader.record.tasks).filter(|index| reader.instances(*index) > 0) {
        let room = BARS.saturating_sub(attempts.len());
        if room == 0 {
            break;
        }
        attempts.extend(web.store().attempts_of_task(&reader.record.id, TaskIx(index), room).await?);
    }
    Ok(attempts)
}

fn bar(reader: &Reader<'_>, attempt: &AttemptRecord, ready: Option<Timestamp>) -> Value {
    let view = describe::attempt(attempt, reader.plan.task(attempt.task));
    json!({
        "task": view.task,
        "instance": view.instance,
        "attempt": view.attempt,
        "ready": millis(ready.map(Time)),
        "created": millis(Some(view.created_at)),
        "started": millis(view.started_at),
        "ended": millis(view.ended_at),
        "state": view.outcome.unwrap_or(view.state),
    })
}

/// An instance that waits for its next attempt or for approval.
fn wait(reader: &Reader<'_>, one: &InstanceRecord) -> Value {
    let since = match &one.state {
        InstanceState::Waiting { since, .. } => *since,
        _ => one.ready_at,
    };
    json!({
        "task": reader.plan.task(one.task).name,
        "instance": one.instance,
        "attempt": one.attempt + 1,
        "created": millis(Some(Time(since))),
        "state": "waiting",
    })
}

fn millis(time: Option<Time>) -> Option<f64> {
    time.map(|time| time.0.0 as f64 / 1000.0)
}
