//! The report of a run from this machine's records.

use std::path::Path;

use cubeloom_domain::executor::Artifact;
use cubeloom_domain::graph::Graph;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::state::{AttemptState, InstanceState};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{TaskIx, Timestamp};
use serde_json::{Value, json};

use super::{FAILURES, Failed, OUTPUTS, ROWS, Report, Results, Row};
use crate::progress::board::{Board, Line};
use crate::progress::model::{InstanceView, TaskView, View};
use crate::progress::status;

impl Report {
    /// From the records of a run, whose files are in this folder.
    pub fn of(view: &View, run_dir: &Path, now: Timestamp) -> Self {
        let board = Board::of(view, now);
        let rows = board.tasks.iter().zip(&view.tasks).map(|(line, task)| row(line, task)).collect();
        let failed = failed(view);
        Self {
            run: view.run.id.to_string(),
            message: view.run.message.clone(),
            board,
            rows,
            more_failures: failed.len().saturating_sub(FAILURES),
            failures: failed.into_iter().take(FAILURES).collect(),
            results: results(view, run_dir),
        }
    }
}

fn row(line: &Line, task: &TaskView) -> Row {
    // Failures have their details below.
    let detail = if line.status.word == "failed" { "" } else { &line.status.detail };
    let usage = usage(task).map(|usage| (usage.peak_memory, usage.cpu_us));
    Row { usage, remark: remark(task, detail) }
}

/// The remark after a task's numbers: workers or instances, attempts, reused results.
fn remark(task: &TaskView, detail: &str) -> String {
    let attempt =
        task.instances.get(&0).filter(|_| task.expected.is_none()).and_then(|one| one.attempt.as_ref());
    let workers =
        attempt.filter(|attempt| attempt.workers > 1).map(|attempt| format!("{} workers", attempt.workers));
    let tries =
        attempt.filter(|attempt| attempt.key.n > 1).map(|attempt| format!("attempt {}", attempt.key.n));
    let detail = (!detail.is_empty()).then(|| detail.to_owned());
    [workers, tries, detail].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The usage of a task's latest attempts; `None` if none has ended.
fn usage(task: &TaskView) -> Option<UsageSummary> {
    let ended = |attempt: &&cubeloom_domain::record::AttemptRecord| {
        matches!(attempt.state, AttemptState::Ended { started_at: Some(_), .. })
    };
    let attempts = task.instances.values().filter_map(|one| one.attempt.as_ref()).filter(ended);
    attempts.map(|attempt| attempt.usage).reduce(UsageSummary::join)
}

fn failed(view: &View) -> Vec<Failed> {
    let instances = view
        .tasks()
        .flat_map(|(planned, task)| task.instances.iter().map(move |(ix, one)| (planned, *ix, one)));
    instances
        .filter_map(|(planned, ix, one)| match &one.record.state {
            InstanceState::Failed { failure } => Some(Failed {
                task: planned.name.clone(),
                instance: planned.for_each.is_some().then_some(ix),
                kind: failure.kind.to_string(),
                message: failure.message.clone(),
                last_lines: failure.last_lines.clone(),
            }),
            _ => None,
        })
        .collect()
}

/// The run's folder, the best trials, the outputs of the last tasks, and the files worth showing.
fn results(view: &View, run_dir: &Path) -> Results {
    let place = run_dir.is_dir().then(|| run_dir.display().to_string());
    let mut results = Results { place, lines: Vec::new() };
    for (planned, task) in view.tasks() {
        let (Some(search), Some(best)) = (planned.search(), task.best(planned)) else { continue };
        let text = format!("{} {}: {}", search.of, best.value, best.trial.item);
        results.output(format!("{}.best", planned.name), &text.into());
    }
    for (planned, one) in last_tasks(view) {
        let outputs = &one.record.report.outputs;
        for (name, value) in outputs.iter().take(OUTPUTS) {
            results.output(format!("{}.{name}", planned.name), value);
        }
        if outputs.len() > OUTPUTS {
            let rest = format!("… and {} more outputs", outputs.len() - OUTPUTS);
            results.lines.push((planned.name.clone(), rest));
        }
    }
    results
        .lines
        .extend(artifacts(view).iter().map(|artifact| (artifact.name.clone(), artifact.path.clone())));
    results
}

/// The instances of tasks without downstream tasks, if they are few.
fn last_tasks(view: &View) -> Vec<(&PlannedTask, &InstanceView)> {
    let edges: Vec<(u32, u32)> = (0u32..)
        .zip(&view.plan.tasks)
        .flat_map(|(after, task)| task.needs.iter().map(move |need| (need.0, after)))
        .collect();
    let graph = Graph::new(view.plan.tasks.len(), &edges);
    let last = |ix: &TaskIx| graph.after(ix.0).is_empty() && view.planned(*ix).for_each.is_none();
    (0..view.plan.tasks.len() as u32)
        .map(TaskIx)
        .filter(last)
        .take(ROWS)
        .filter_map(|ix| Some((view.planned(ix), view.tasks[ix.index()].instances.get(&0)?)))
        .collect()
}

fn artifacts(view: &View) -> Vec<&Artifact> {
    let instances = view.tasks().flat_map(|(_, task)| task.instances.values());
    instances.flat_map(|one| &one.record.report.artifacts).take(ROWS).collect()
}

/// The report for programs.
pub fn json(view: &View, run_dir: &Path, now: Timestamp) -> Value {
    let task = |ix: TaskIx| {
        let instances: Vec<Value> = view.tasks[ix.index()]
            .instances
            .values()
            .map(|one| instance_json(view.planned(ix), one, now))
            .collect();
        let planned = view.planned(ix);
        let mut task =
            json!({"name": planned.name, "state": status::task(view, ix, now).word, "instances": instances});
        if planned.search().is_some() {
            task["best"] = json!(view.tasks[ix.index()].best(planned).map(|best| best.output()));
        }
        task
    };
    let tasks: Vec<Value> = (0..view.plan.tasks.len() as u32).map(TaskIx).map(task).collect();
    json!({"run": view.run, "run_dir": run_dir, "parameters": view.plan.parameters, "tasks": tasks})
}

fn instance_json(planned: &PlannedTask, one: &InstanceView, now: Timestamp) -> Value {
    let shown = status::instance(planned, one, now);
    let seconds = |time: Option<std::time::Duration>| time.map(|time| time.as_secs_f64());
    let attempt = one.attempt.as_ref();
    json!({
        "instance": one.record.instance,
        "state": one.record.state,
        "attempt": one.record.attempt,
        "workers": attempt.map(|attempt| attempt.workers),
        "wait_seconds": seconds(shown.wait),
        "seconds": seconds(shown.time),
        "usage": attempt.map(|attempt| attempt.usage),
        "report": one.record.report,
        "note": one.record.note,
    })
}
