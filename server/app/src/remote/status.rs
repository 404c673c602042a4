//! The status of a task, from its view in the API.

use std::collections::BTreeMap;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::executor::Progress;
use cubeloom_domain::state::RunState;
use cubeloom_web::api::runs::view::RunView;
use cubeloom_web::api::tasks::view::TaskView;

use crate::progress::{Board, Line, Status};
use crate::show::{Style, duration};

/// The state of a run, from its word.
pub fn run_state(run: &RunView) -> RunState {
    RunState::ALL.into_iter().find(|state| state.as_str() == run.state).unwrap_or(RunState::Running)
}

/// The board of a run with these tasks, by their position.
pub fn board(run: &RunView, tasks: &BTreeMap<u32, TaskView>, now: Timestamp) -> Board {
    let states: BTreeMap<&str, &str> =
        tasks.values().map(|task| (task.name.as_str(), task.state.as_str())).collect();
    let line = |task: &TaskView| Line { name: task.name.clone(), status: status(run, task, &states, now) };
    Board {
        pipeline: run.pipeline.clone(),
        state: run_state(run),
        created_at: run.created_at.0,
        ended_at: run.ended_at.map(|at| at.0),
        tasks: tasks.values().map(line).collect(),
    }
}

fn status(run: &RunView, task: &TaskView, states: &BTreeMap<&str, &str>, now: Timestamp) -> Status {
    let (word, sign, style, detail) = match task.state.as_str() {
        "pending" if run_state(run).is_final() || run.state == "cancelling" => {
            ("not run", '-', Style::Dim, String::new())
        }
        "pending" => ("pending", '·', Style::Dim, upstream(task, states)),
        "waiting" => {
            let why = task.wait.as_ref().map(|wait| wait.message.clone());
            ("waiting", '◌', Style::Warn, why.unwrap_or_default())
        }
        "backoff" => ("backoff", '↻', Style::Warn, retry(task, now)),
        "running" => match &task.preparing {
            Some(what) => ("preparing", '◔', Style::Busy, what.clone()),
            None if task.started_at.is_none() => ("starting", '◔', Style::Busy, workers(task)),
            None => ("running", '●', Style::Busy, workers(task)),
        },
        "succeeded" => ("succeeded", '✓', Style::Good, String::new()),
        "reused" => ("reused", '✓', Style::Good, String::new()),
        "stopped_early" => ("stopped early", '✂', Style::Dim, String::new()),
        "failed" => {
            let why = task.failure.as_ref().map(|failure| failure.message.clone());
            ("failed", '✗', Style::Bad, why.unwrap_or_default())
        }
        "upstream_failed" => ("not run", '-', Style::Dim, "an upstream task failed".into()),
        "skipped" => ("skipped", '-', Style::Dim, String::new()),
        "cancelled" => ("cancelled", '■', Style::Warn, String::new()),
        other => (other, '·', Style::Dim, String::new()),
    };
    let detail = match (task.for_each && task.instances.total > 0, detail.is_empty()) {
        (true, _) => instances(task),
        (false, true) => task.note.clone().unwrap_or_default(),
        (false, false) => detail,
    };
    Status {
        word: word.to_owned(),
        sign,
        style,
        time: time(task, now),
        wait: task.wait_seconds.map(Duration::from_secs_f64),
        progress: task.progress.map(|progress| Progress { step: progress.step, total: progress.total }),
        detail,
    }
}

/// Time since its start, or until its end.
fn time(task: &TaskView, now: Timestamp) -> Option<Duration> {
    let started = task.started_at?.0;
    Some(task.ended_at.map_or(now, |at| at.0).since(started))
}

/// The tasks that a pending task depends on and that have not ended.
fn upstream(task: &TaskView, states: &BTreeMap<&str, &str>) -> String {
    let is_open = |need: &&String| {
        matches!(states.get(need.as_str()), Some(&("pending" | "waiting" | "backoff" | "running")))
    };
    let open: Vec<&str> = task.needs.iter().filter(is_open).map(String::as_str).collect();
    match open.as_slice() {
        [] => String::new(),
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("after {first}, {second}, {third} and {} more", rest.len())
        }
        few => format!("after {}", few.join(", ")),
    }
}

fn retry(task: &TaskView, now: Timestamp) -> String {
    match task.next_try_at {
        Some(at) => format!("attempt {} failed, retried in {}", task.attempts, duration(at.0.since(now))),
        None => format!("attempt {} failed", task.attempts),
    }
}

fn workers(task: &TaskView) -> String {
    let workers: u32 = task.roles.iter().map(|role| role.replicas).sum();
    let parts = [
        (workers > 1).then(|| format!("{workers} workers")),
        (task.attempts > 1 && !task.for_each).then(|| format!("attempt {}", task.attempts)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `8 instances: 5 succeeded, 2 running, 1 failed`.
fn instances(task: &TaskView) -> String {
    let total = task.instances.total;
    let noun = if total == 1 { "instance" } else { "instances" };
    let counts = task.instances.states.iter().filter(|(_, count)| **count > 0);
    let list: Vec<String> =
        counts.map(|(state, count)| format!("{count} {}", state.replace('_', " "))).collect();
    if list.len() < 2 { format!("{total} {noun}") } else { format!("{total} {noun}: {}", list.join(", ")) }
}
