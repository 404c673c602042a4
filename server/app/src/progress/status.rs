//! One line about an instance or a task: a word, a symbol, the duration, and the current activity.

use std::time::Duration;

use cubeloom_domain::executor::Progress;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::state::{AttemptState, InstanceState, RunState, SkipReason};
use cubeloom_domain::{TaskIx, Timestamp};

use super::model::{InstanceView, TaskView, View};
use crate::show::{Style, duration};

/// The displayed status of an instance or a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    pub word: String,
    /// The state as a symbol.
    pub sign: char,
    pub style: Style,
    /// Duration so far, or of the whole run.
    pub time: Option<Duration>,
    /// How long it was pending after its dependencies had ended.
    pub wait: Option<Duration>,
    pub progress: Option<Progress>,
    /// The current activity, in a few words.
    pub detail: String,
}

fn status(word: &str, sign: char, style: Style) -> Status {
    Status { word: word.into(), sign, style, ..Status::default() }
}

pub fn task(view: &View, ix: TaskIx, now: Timestamp) -> Status {
    let (planned, task) = (view.planned(ix), &view.tasks[ix.index()]);
    if planned.for_each.is_none() {
        return match task.instances.get(&0) {
            Some(one) => instance(planned, one, now),
            None => pending(view, planned),
        };
    }
    match task.instances.is_empty() {
        true if task.expected == Some(0) => status("skipped", '-', Style::Dim),
        true => pending(view, planned),
        false => expanded(planned, task, now),
    }
}

/// A task that waits for upstream tasks.
fn pending(view: &View, planned: &PlannedTask) -> Status {
    if view.run.state.is_final() || view.run.state == RunState::Cancelling {
        return status("not run", '-', Style::Dim);
    }
    let ended = |need: &TaskIx| {
        let task = &view.tasks[need.index()];
        !task.instances.is_empty() && task.instances.values().all(|each| each.record.state.is_final())
    };
    let open: Vec<&str> = planned
        .needs
        .iter()
        .filter(|need| !ended(need))
        .map(|need| view.planned(*need).name.as_str())
        .collect();
    let detail = match open.as_slice() {
        [] => String::new(),
        [first, second, third, rest @ ..] if !rest.is_empty() => {
            format!("after {first}, {second}, {third} and {} more", rest.len())
        }
        few => format!("after {}", few.join(", ")),
    };
    Status { detail, ..status("pending", '·', Style::Dim) }
}

pub fn instance(planned: &PlannedTask, view: &InstanceView, now: Timestamp) -> Status {
    let record = &view.record;
    let mut shown = match &record.state {
        InstanceState::Pending => status("pending", '·', Style::Dim),
        InstanceState::Waiting { reason, .. } => Status {
            detail: reason.as_ref().map(|reason| reason.message().to_owned()).unwrap_or_default(),
            ..status("waiting", '◌', Style::Warn)
        },
        InstanceState::Backoff { until } => Status {
            detail: format!("failed {}, tried again in {}", times(record.tries), duration(until.since(now))),
            ..status("backoff", '↻', Style::Warn)
        },
        InstanceState::Active { .. } => return active(planned, view, now),
        InstanceState::Succeeded { reused: None } => status("succeeded", '✓', Style::Good),
        InstanceState::Succeeded { reused: Some(_) } => status("reused", '✓', Style::Good),
        InstanceState::StoppedEarly { why } => {
            Status { detail: why.clone(), ..status("stopped early", '✂', Style::Dim) }
        }
        InstanceState::Failed { failure } => {
            Status { detail: failure.message.clone(), ..status("failed", '✗', Style::Bad) }
        }
        InstanceState::UpstreamFailed => {
            Status { detail: "an upstream task failed".into(), ..status("not run", '-', Style::Dim) }
        }
        InstanceState::Skipped { reason: SkipReason::Condition } => {
            Status { detail: "its `when` is false".into(), ..status("skipped", '-', Style::Dim) }
        }
        InstanceState::Skipped { reason: SkipReason::Trigger } => {
            Status { detail: "its trigger rule is not met".into(), ..status("skipped", '-', Style::Dim) }
        }
        InstanceState::Skipped { reason: SkipReason::Marked } => status("skipped", '-', Style::Dim),
        InstanceState::Cancelled => status("cancelled", '■', Style::Warn),
    };
    times_of(&mut shown, view, now);
    if let (true, Some(note)) = (shown.detail.is_empty(), &record.note) {
        shown.detail.clone_from(note);
    }
    shown
}

fn active(planned: &PlannedTask, view: &InstanceView, now: Timestamp) -> Status {
    let mut shown = match view.attempt.as_ref().map(|attempt| &attempt.state) {
        // An attempt's end is reported before its instance's.
        Some(AttemptState::Running { .. } | AttemptState::Ended { .. }) => {
            status("running", '●', Style::Busy)
        }
        Some(AttemptState::Stopping { .. }) => status("stopping", '◍', Style::Warn),
        _ => match &view.preparing {
            Some(what) => Status { detail: what.clone(), ..status("preparing", '◔', Style::Busy) },
            None => status("starting", '◔', Style::Busy),
        },
    };
    times_of(&mut shown, view, now);
    shown.progress = view.progress;
    if shown.detail.is_empty() {
        shown.detail = running_detail(planned, view);
    }
    shown
}

fn running_detail(planned: &PlannedTask, view: &InstanceView) -> String {
    let workers = view
        .attempt
        .as_ref()
        .map_or_else(|| planned.roles.iter().map(|role| role.replicas).sum(), |attempt| attempt.workers);
    let again = view.attempt.as_ref().map(|attempt| attempt.key.n).filter(|n| *n > 1);
    let parts = [(workers > 1).then(|| format!("{workers} workers")), again.map(|n| format!("attempt {n}"))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn times_of(shown: &mut Status, view: &InstanceView, now: Timestamp) {
    let Some(attempt) = &view.attempt else { return };
    let began = attempt.state.started_at();
    let ended = match &attempt.state {
        AttemptState::Ended { ended_at, .. } => *ended_at,
        _ => now,
    };
    shown.time = began.map(|began| ended.since(began));
    shown.wait = began.map(|began| began.since(view.record.ready_at));
}

fn times(tries: u32) -> String {
    match tries {
        1 => "once".into(),
        2 => "twice".into(),
        n => format!("{n} times"),
    }
}

/// A task with several instances: their counts.
fn expanded(planned: &PlannedTask, task: &TaskView, now: Timestamp) -> Status {
    let each: Vec<Status> = task.instances.values().map(|one| instance(planned, one, now)).collect();
    let all = task.expected.unwrap_or(each.len()).max(each.len());
    let ended = task.instances.values().filter(|one| one.record.state.is_final()).count();
    let order = [
        "running",
        "stopping",
        "preparing",
        "starting",
        "failed",
        "backoff",
        "waiting",
        "pending",
        "cancelled",
    ];
    let leading = order.iter().find_map(|word| each.iter().find(|one| one.word == *word));
    let mut shown = match leading.or_else(|| each.iter().find(|one| one.word == "succeeded")).or(each.first())
    {
        Some(one) => status(&one.word, one.sign, one.style),
        None => status("pending", '·', Style::Dim),
    };
    let (first, last) = span(task, now);
    shown.time = first.map(|first| last.since(first));
    let ready = task.instances.values().map(|one| one.record.ready_at).min();
    shown.wait = ready.zip(first).map(|(ready, first)| first.since(ready));
    shown.detail = counts(&each, all);
    if ended < all {
        shown.progress = Some(Progress { step: ended as f64, total: Some(all as f64) });
    }
    shown
}

/// The start of the first of a task's attempts, and the end of the last.
fn span(task: &TaskView, now: Timestamp) -> (Option<Timestamp>, Timestamp) {
    let attempts = || task.instances.values().filter_map(|one| one.attempt.as_ref());
    let first = attempts().filter_map(|attempt| attempt.state.started_at()).min();
    let end = |attempt: &cubeloom_domain::record::AttemptRecord| match &attempt.state {
        AttemptState::Ended { ended_at, .. } => *ended_at,
        _ => now,
    };
    (first, attempts().map(end).max().unwrap_or(now))
}

/// `8 instances: 5 succeeded, 2 running, 1 failed`.
fn counts(each: &[Status], all: usize) -> String {
    let mut words: Vec<(&str, usize)> = Vec::new();
    for one in each {
        match words.iter_mut().find(|(word, _)| *word == one.word) {
            Some((_, count)) => *count += 1,
            None => words.push((&one.word, 1)),
        }
    }
    let noun = if all == 1 { "instance" } else { "instances" };
    match words.as_slice() {
        [(_, count)] if *count == all => format!("{all} {noun}"),
        words => {
            let list: Vec<String> = words.iter().map(|(word, count)| format!("{count} {word}")).collect();
            format!("{all} {noun}: {}", list.join(", "))
        }
    }
}
