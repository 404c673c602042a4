//! The critical path of a run: the chain of tasks that decided when the run ended.
//!
//! It ends with the task that ended last. It goes back through the upstream task that ended last before each
//! of them became ready.

mod hints;
pub(crate) mod read;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::time::Duration;

use cubeloom_domain::graph::Graph;
use cubeloom_domain::{InstanceIx, TaskIx, Timestamp};

/// The times of a task: those of its instance that ended last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TaskTimes {
    instance: InstanceIx,
    /// When its upstream had ended.
    ready_at: Timestamp,
    /// When its first attempt was submitted.
    submitted_at: Option<Timestamp>,
    /// When its first attempt started, or ended without a start.
    started_at: Option<Timestamp>,
    /// When the attempt started that ran to the end, or that runs now.
    final_start: Option<Timestamp>,
    /// `None` while it has not ended.
    ended_at: Option<Timestamp>,
    attempts: u32,
}

/// What a task depends on.
#[derive(Clone, Copy, Debug)]
struct Upstream<'p> {
    needs: &'p [TaskIx],
    /// Whether one end among them may start it, so that others may end later.
    is_early: bool,
}

/// A task on the critical path. Its times are in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    task: TaskIx,
    instance: InstanceIx,
    ready_at: Timestamp,
    submitted_at: Timestamp,
    started_at: Timestamp,
    final_start: Timestamp,
    until: Timestamp,
    attempts: u32,
}

impl Step {
    fn new(task: TaskIx, times: &TaskTimes, until: Timestamp) -> Self {
        // A part that has not begun takes no time at the end.
        let within = |at: Option<Timestamp>, from: Timestamp| at.unwrap_or(until).max(from).min(until);
        let submitted_at = within(times.submitted_at, times.ready_at);
        let started_at = within(times.started_at, submitted_at);
        let final_start = within(times.final_start, started_at);
        Self {
            task,
            instance: times.instance,
            ready_at: times.ready_at,
            submitted_at,
            started_at,
            final_start,
            until,
            attempts: times.attempts,
        }
    }

    fn whole(&self) -> Duration {
        self.until.since(self.ready_at)
    }

    /// Time from ready to the start of its workers.
    fn waiting(&self) -> Duration {
        self.started_at.since(self.ready_at)
    }

    /// The part of [`Self::waiting`] before its submission: the scheduler did not admit it yet.
    fn queued(&self) -> Duration {
        self.submitted_at.since(self.ready_at)
    }

    /// The part of [`Self::waiting`] after its submission.
    fn starting(&self) -> Duration {
        self.started_at.since(self.submitted_at)
    }

    /// Failed attempts, and the time between attempts.
    fn retries(&self) -> Duration {
        self.final_start.since(self.started_at)
    }

    fn running(&self) -> Duration {
        self.until.since(self.final_start)
    }
}

/// The critical path of tasks with these upstream tasks and times, in order. A node's clock may be ahead of the
/// server's: a task counts until the next one was ready. `None` is a task without
/// instances; its upstream counts in its place. What has not ended counts as ending `now`.
///
/// It takes linear time. It is empty if no task took any time, or if the graph has a cycle.
fn critical_path(upstream: &[Upstream<'_>], tasks: &[Option<TaskTimes>], now: Timestamp) -> Vec<Step> {
    let last = last_with_instances(upstream, tasks, now);
    let times = |task: TaskIx| tasks.get(task.index()).and_then(Option::as_ref);
    let order = |task: &TaskIx| times(*task).map(|times| lateness(times, *task, now));
    let mut next = last.iter().flatten().copied().max_by_key(&order);
    let (mut steps, mut before) = (Vec::new(), Timestamp(i64::MAX));
    while let Some((task, own)) = next.and_then(|task| Some((task, times(task)?))) {
        steps.push(Step::new(task, own, end(own, now).min(before)));
        before = own.ready_at;
        let Upstream { needs, is_early } = upstream[task.index()];
        let delayed_it = |task: &TaskIx| {
            let ended_at = times(*task).and_then(|times| times.ended_at);
            ended_at.is_some_and(|ended| !is_early || ended <= own.ready_at)
        };
        let found = needs.iter().filter_map(|need| last[need.index()]);
        next = found.filter(delayed_it).max_by_key(&order);
    }
    steps.reverse();
    trimmed(steps)
}

/// For each task, itself or, without instances, the task that ended last upstream of it.
fn last_with_instances(
    upstream: &[Upstream<'_>],
    tasks: &[Option<TaskTimes>],
    now: Timestamp,
) -> Vec<Option<TaskIx>> {
    let mut last: Vec<Option<TaskIx>> = vec![None; tasks.len()];
    let edges_to = |(task, upstream): (u32, &Upstream<'_>)| -> Vec<(u32, u32)> {
        upstream.needs.iter().map(|need| (need.0, task)).collect()
    };
    let edges: Vec<(u32, u32)> = (0u32..).zip(upstream).flat_map(edges_to).collect();
    for task in Graph::new(tasks.len(), &edges).order().unwrap_or_default() {
        let order = |one: &TaskIx| tasks[one.index()].as_ref().map(|times| lateness(times, *one, now));
        last[task as usize] = match tasks[task as usize] {
            Some(_) => Some(TaskIx(task)),
            None => {
                upstream[task as usize].needs.iter().filter_map(|need| last[need.index()]).max_by_key(order)
            }
        };
    }
    last
}

/// The order of tasks by their ends. Of two that ended together, the one that became ready first took more
/// time, and counts.
fn lateness(
    times: &TaskTimes,
    task: TaskIx,
    now: Timestamp,
) -> (Timestamp, Reverse<Timestamp>, Reverse<TaskIx>) {
    (end(times, now), Reverse(times.ready_at), Reverse(task))
}

fn end(times: &TaskTimes, now: Timestamp) -> Timestamp {
    times.ended_at.unwrap_or(now).max(times.ready_at)
}

/// The path without tasks at its ends that took no time, such as reused and skipped ones.
fn trimmed(mut steps: Vec<Step>) -> Vec<Step> {
    let takes_time = |step: &Step| step.until > step.ready_at;
    steps.truncate(steps.iter().rposition(takes_time).map_or(0, |at| at + 1));
    let first = steps.iter().position(takes_time).unwrap_or(0);
    steps.drain(..first);
    steps
}
