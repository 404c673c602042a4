//! The result of a run: a table of its tasks, the first cause of a failure, and the location of the results.

use std::path::Path;

use cubeloom_domain::executor::Artifact;
use cubeloom_domain::graph::Graph;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::state::{AttemptState, InstanceState, RunState};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{InstanceIx, TaskIx, Timestamp};
use serde_json::{Value, json};

use super::model::{InstanceView, TaskView, View};
use super::status;
use crate::show::{Align, Cell, Style, Styles, Table, bytes, cpu_time, duration};

/// Maximum rows of the table; a run may have 100,000 tasks.
const ROWS: usize = 60;
/// Maximum number of detailed failures.
const FAILURES: usize = 5;
/// Maximum number of shown outputs of a task.
const OUTPUTS: usize = 50;
/// Maximum length of a shown output.
const LONGEST_OUTPUT: usize = 100;

/// The report for people.
pub fn report(view: &View, run_dir: &Path, now: Timestamp, styles: Styles) -> String {
    let mut parts = vec![table(view, now, styles)];
    parts.extend(failure_parts(view, styles));
    parts.extend(results(view, run_dir, styles));
    parts.push(last_line(view, now, styles));
    parts.join("\n\n")
}

/// Only the first causes.
pub fn failures(view: &View) -> String {
    failure_parts(view, Styles::plain()).join("\n\n")
}

fn table(view: &View, now: Timestamp, styles: Styles) -> String {
    let columns = [
        ("task", Align::Left),
        ("state", Align::Left),
        ("wait", Align::Right),
        ("time", Align::Right),
        ("peak memory", Align::Right),
        ("cpu", Align::Right),
        ("", Align::Left),
    ];
    let mut table = Table::new(&columns);
    let all: Vec<TaskIx> = (0..view.plan.tasks.len() as u32).map(TaskIx).collect();
    for ix in all.iter().take(ROWS) {
        let shown = status::task(view, *ix, now);
        let usage = usage(&view.tasks[ix.index()]);
        let amount = |text: Option<String>| Cell::from(text.unwrap_or_else(|| "-".into()));
        // Failures have their details below.
        let detail = if shown.word == "failed" { "" } else { &shown.detail };
        let remark = remark(&view.tasks[ix.index()], detail);
        table.row([
            view.planned(*ix).name.clone().into(),
            Cell::styled(format!("{} {}", shown.sign, shown.word), shown.style),
            amount(shown.wait.map(duration)),
            amount(shown.time.map(duration)),
            amount(usage.map(|usage| bytes(usage.peak_memory))),
            amount(usage.map(|usage| cpu_time(usage.cpu_us))),
            Cell::styled(remark, Style::Dim),
        ]);
    }
    let rest = all.len().saturating_sub(ROWS);
    let more = if rest > 0 { format!("\n… and {rest} more tasks") } else { String::new() };
    table.render(styles) + &more
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

/// Each failure's first cause, its last log lines, and the command for the rest.
fn failure_parts(view: &View, styles: Styles) -> Vec<String> {
    let failed: Vec<(&PlannedTask, InstanceIx, &Failure)> = view
        .tasks()
        .flat_map(|(planned, task)| task.instances.iter().map(move |(ix, one)| (planned, *ix, one)))
        .filter_map(|(planned, ix, one)| match &one.record.state {
            InstanceState::Failed { failure } => Some((planned, ix, failure)),
            _ => None,
        })
        .collect();
    let mut parts: Vec<String> = failed
        .iter()
        .take(FAILURES)
        .map(|(planned, ix, failure)| told(view, planned, *ix, failure, styles))
        .collect();
    if failed.len() > FAILURES {
        parts.push(format!("… and {} more failures", failed.len() - FAILURES));
    }
    parts
}

fn told(
    view: &View,
    planned: &PlannedTask,
    instance: InstanceIx,
    failure: &Failure,
    styles: Styles,
) -> String {
    let many = planned.for_each.is_some();
    let name = if many { format!("{} (instance {instance})", planned.name) } else { planned.name.clone() };
    let mut lines =
        vec![styles.paint(Style::Bad, &format!("✗ {name} failed ({}): {}", failure.kind, failure.message))];
    lines.extend(failure.last_lines.iter().map(|line| format!("  {} {line}", styles.paint(Style::Dim, "│"))));
    let which = if many { format!(" --instance {instance}") } else { String::new() };
    let logs = format!("  logs: cubeloom logs {} {}{which}", short(view.run.id.as_str()), planned.name);
    lines.push(styles.paint(Style::Dim, &logs));
    lines.join("\n")
}

/// The run's folder, the best trials, the outputs of the last tasks, and the files worth showing.
fn results(view: &View, run_dir: &Path, styles: Styles) -> Option<String> {
    let mut lines = Table::new(&[("", Align::Left), ("", Align::Left)]);
    for (planned, task) in view.tasks() {
        let (Some(search), Some(best)) = (planned.search(), task.best(planned)) else { continue };
        let text = format!("{} {}: {}", search.of, best.value, best.trial.item);
        lines.row([format!("{}.best", planned.name).into(), shortened(&text, LONGEST_OUTPUT).into()]);
    }
    for (planned, one) in last_tasks(view) {
        let outputs = &one.record.report.outputs;
        for (name, value) in outputs.iter().take(OUTPUTS) {
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            lines.row([format!("{}.{name}", planned.name).into(), shortened(&text, LONGEST_OUTPUT).into()]);
        }
        if outputs.len() > OUTPUTS {
            let rest = format!("… and {} more outputs", outputs.len() - OUTPUTS);
            lines.row([planned.name.clone().into(), rest.into()]);
        }
    }
    for artifact in artifacts(view) {
        lines.row([artifact.name.clone().into(), artifact.path.clone().into()]);
    }
    let folder = if run_dir.is_dir() { format!(" in {}", run_dir.display()) } else { String::new() };
    if folder.is_empty() && lines.is_empty() {
        return None;
    }
    let head = styles.paint(Style::Bold, &format!("Results{folder}"));
    let rows = lines.rows(styles).into_iter().map(|line| format!("\n  {line}"));
    Some(std::iter::once(head).chain(rows).collect())
}

fn shortened(text: &str, longest: usize) -> String {
    let one_line = text.replace('\n', " ");
    if one_line.chars().count() <= longest {
        return one_line;
    }
    one_line.chars().take(longest).chain(['…']).collect()
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

fn last_line(view: &View, now: Timestamp, styles: Styles) -> String {
    let run = &view.run;
    let time = duration(run.ended_at.unwrap_or(now).since(run.created_at));
    let (style, sign) = match run.state {
        RunState::Succeeded => (Style::Good, '✓'),
        RunState::Failed => (Style::Bad, '✗'),
        RunState::Cancelled => (Style::Warn, '■'),
        RunState::Queued | RunState::Running | RunState::Cancelling => (Style::Busy, '●'),
    };
    let word = styles.paint(style, &format!("{sign} {} {}", run.pipeline, run.state.as_str()));
    let message = run.message.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    format!("{word} in {time}{message}  {}", styles.paint(Style::Dim, &format!("run {}", run.id)))
}

/// The end of an id: enough for a user to refer to it.
fn short(id: &str) -> &str {
    &id[id.len().saturating_sub(8)..]
}

/// The report for programs.
pub fn report_json(view: &View, run_dir: &Path, now: Timestamp) -> Value {
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
