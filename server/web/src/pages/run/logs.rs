//! Worker logs: selects the log. The script reads and follows it.

use askama::Template;
use axum::response::Response;
use cubeloom_domain::TaskIx;

use super::Asked;
use super::head::Head;
use crate::error::ApiResult;
use crate::pages::{Frame, html};
use crate::runs::{Reader, describe};
use crate::state::Web;
use crate::time::Time;

#[derive(Template)]
#[template(path = "run/logs.html")]
struct LogsPage {
    frame: Frame,
    head: Head,
    /// Task names.
    tasks: Vec<String>,
    task: String,
    /// Number of the task's instances.
    instances: u64,
    instance: u32,
    /// Numbers of the instance's attempts.
    attempts: Vec<u32>,
    attempt: u32,
    workers: Vec<String>,
    worker: String,
    stream: String,
    /// Start of the attempt.
    begin: Option<Time>,
}

pub(super) async fn page(
    web: &Web,
    frame: Frame,
    head: Head,
    reader: &Reader<'_>,
    asked: &Asked,
) -> ApiResult<Response> {
    let index = chosen(reader, &head, &asked.task)?;
    let planned = reader.plan.task(index);
    let instance = asked.instance.parse().ok().or_else(|| failed_instance(&head, &planned.name)).unwrap_or(0);
    let records = web.store().attempts_of(&reader.record.id, index, instance).await?;
    let attempts: Vec<u32> = records.iter().map(|record| record.key.n).collect();
    let wanted: Option<u32> = asked.attempt.parse().ok();
    let record = records.iter().find(|record| Some(record.key.n) == wanted).or(records.last());
    let workers = record.map(|record| describe::attempt(record, planned).workers).unwrap_or_default();
    let workers: Vec<String> = workers.into_iter().map(|worker| worker.name).collect();
    html(&LogsPage {
        frame,
        head,
        tasks: reader.plan.tasks.iter().map(|task| task.name.clone()).collect(),
        task: planned.name.clone(),
        instances: reader.instances(index.0),
        instance,
        attempt: record.map_or(0, |record| record.key.n),
        attempts,
        worker: workers.iter().find(|name| **name == asked.worker).cloned().unwrap_or_default(),
        workers,
        stream: asked.stream.clone(),
        begin: record.and_then(|record| record.state.started_at()).map(Time),
    })
}

/// The failed instance, if the task is the one that failed first.
fn failed_instance(head: &Head, task: &str) -> Option<u32> {
    head.failure.as_ref().filter(|first| first.task == task)?.failure.instance
}

/// The requested task, else the first failed, a running, the last ended, or the first one.
fn chosen(reader: &Reader<'_>, head: &Head, asked: &str) -> ApiResult<TaskIx> {
    if !asked.is_empty() {
        return reader.find(asked);
    }
    if let Some(first) = &head.failure {
        return reader.find(&first.task);
    }
    let all = 0..reader.record.tasks;
    let running = all.clone().find(|index| reader.state(*index) == "running");
    let last = || all.rev().find(|index| reader.instances(*index) > 0);
    Ok(TaskIx(running.or_else(last).unwrap_or(0)))
}
