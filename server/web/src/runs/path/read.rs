//! Reads the times of a run's tasks, and describes its critical path.

use std::time::Duration;

use cubeloom_domain::pipeline::TriggerRule;
use cubeloom_domain::plan::{ForEachItems, PlannedTask};
use cubeloom_domain::{TaskIx, Timestamp};
use cubeloom_store::{LastAttempt, LastInstance};

use super::hints::{OnPath, hints};
use super::{Step, TaskTimes, Upstream, critical_path};
use crate::api::runs::critical_path::{CriticalPathView, PathTaskView};
use crate::error::ApiResult;
use crate::runs::Reader;
use crate::runs::describe::ended_by;
use crate::state::Web;
use crate::time::{Time, maybe};

/// The critical path of a run, until its end or now.
pub(crate) async fn of(web: &Web, reader: &Reader<'_>) -> ApiResult<CriticalPathView> {
    let run = &reader.record;
    let now = run.ended_at.filter(|_| run.state.is_final()).unwrap_or_else(|| web.now());
    let whole = run.started_at.map_or(Duration::ZERO, |started| now.since(started));
    let tasks = times(&reader.plan.tasks, &web.store().last_instances(&run.id).await?);
    let upstream: Vec<Upstream<'_>> = reader.plan.tasks.iter().map(upstream).collect();
    let steps = critical_path(&upstream, &tasks, now);
    let pending = pending(web, reader, &steps).await?;
    let mut path: Vec<OnPath<'_>> = steps.iter().map(|step| on_path(reader, step)).collect();
    if let Some(last) = path.last_mut() {
        last.pending = pending;
    }
    let sum = |part: fn(&Step) -> Duration| steps.iter().map(part).sum::<Duration>().as_secs_f64();
    let is_open = |step: &Step| tasks[step.task.index()].is_some_and(|times| times.ended_at.is_none());
    Ok(CriticalPathView {
        seconds: whole.as_secs_f64(),
        path_seconds: sum(Step::whole),
        waiting_seconds: sum(Step::waiting),
        retry_seconds: sum(Step::retries),
        tasks: path.iter().map(|one| task_view(one, is_open(&one.step))).collect(),
        hints: hints(&path, whole),
    })
}

fn upstream(task: &PlannedTask) -> Upstream<'_> {
    let is_early = matches!(task.trigger, TriggerRule::OneFailed | TriggerRule::OneSuccess);
    Upstream { needs: &task.needs, is_early }
}

/// The times of each task. A task comes with its first and its last attempt.
fn times(tasks: &[PlannedTask], last: &[LastInstance]) -> Vec<Option<TaskTimes>> {
    let mut found: Vec<Option<TaskTimes>> = vec![None; tasks.len()];
    for of_task in last.chunk_by(|one, other| one.task == other.task) {
        let (Some(first), Some(last)) = (of_task.first(), of_task.last()) else { continue };
        if let Some(place) = found.get_mut(first.task.index()) {
            *place = Some(of_instance(first, last));
        }
    }
    found
}

fn of_instance(first: &LastInstance, last: &LastInstance) -> TaskTimes {
    let (first_try, last_try) = (first.attempt.as_ref(), last.attempt.as_ref());
    let ended = |attempt: &LastAttempt| ended_by(&attempt.state);
    let runs_on = |attempt: &&LastAttempt| last.ended_at.is_some() || attempt.state.is_live();
    TaskTimes {
        instance: first.instance,
        ready_at: first.ready_at,
        submitted_at: first_try.map(|attempt| attempt.created_at),
        started_at: first_try.and_then(|attempt| attempt.state.started_at().or_else(|| ended(attempt))),
        final_start: last_try.filter(runs_on).and_then(|attempt| attempt.state.started_at()),
        ended_at: last.ended_at,
        attempts: match (first_try, last_try) {
            (Some(first), Some(last)) => last.n.saturating_sub(first.n) + 1,
            _ => 0,
        },
    }
}

/// Why the last task of the path is pending, if it is.
async fn pending(web: &Web, reader: &Reader<'_>, steps: &[Step]) -> ApiResult<Option<String>> {
    let Some(step) = steps.last().filter(|step| step.attempts == 0) else { return Ok(None) };
    let record = web.store().instance(&reader.record.id, step.task, step.instance).await?;
    let wait = record.and_then(|record| reader.waits().of(&reader.plan.task(step.task).name, &record));
    Ok(wait.map(|wait| wait.message).filter(|message| !message.is_empty()))
}

fn on_path<'r>(reader: &'r Reader<'_>, step: &Step) -> OnPath<'r> {
    let task = reader.plan.task(step.task);
    OnPath {
        name: &task.name,
        step: *step,
        asks: task.asks,
        limited: limited(reader, step.task),
        pending: None,
    }
}

/// The maximum concurrency of a task, and its instances that had to run, if these are more. The trials of a
/// search do not become ready together.
fn limited(reader: &Reader<'_>, task: TaskIx) -> Option<(u32, u64)> {
    let each = reader.plan.task(task).for_each.as_ref()?;
    let limit = each.parallelism.filter(|_| !matches!(each.items, ForEachItems::Search(_)))?;
    let counts = reader.counts(task.0);
    let without_job: u64 =
        ["reused", "skipped", "upstream_failed"].iter().filter_map(|state| counts.states.get(*state)).sum();
    let ran = counts.total.saturating_sub(without_job);
    (ran > u64::from(limit)).then_some((limit, ran))
}

fn task_view(one: &OnPath<'_>, is_open: bool) -> PathTaskView {
    let step = &one.step;
    let started = |at: Timestamp| (step.attempts > 0).then_some(at);
    PathTaskView {
        task: one.name.into(),
        instance: step.instance,
        attempts: step.attempts,
        ready_at: Time(step.ready_at),
        started_at: maybe(started(step.started_at).filter(|at| !is_open || *at < step.until)),
        ended_at: maybe(Some(step.until).filter(|_| !is_open)),
        seconds: step.whole().as_secs_f64(),
        waiting_seconds: step.waiting().as_secs_f64(),
        starting_seconds: step.starting().as_secs_f64(),
        retry_seconds: step.retries().as_secs_f64(),
        running_seconds: step.running().as_secs_f64(),
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::outcome::Outcome;
    use cubeloom_domain::state::AttemptState;

    use super::*;

    /// Attempt `n`, which was stored at ten times its number, started one later and ended five later.
    fn tried(n: u32, is_over: bool, ended_at: Option<i64>) -> LastInstance {
        let at = |after: i64| Timestamp(i64::from(n) * 10 + after);
        let state = match is_over {
            true => {
                AttemptState::Ended { started_at: Some(at(1)), ended_at: at(5), outcome: Outcome::Succeeded }
            }
            false => AttemptState::Running { started_at: at(1) },
        };
        LastInstance {
            task: TaskIx(0),
            instance: 7,
            ready_at: Timestamp(4),
            ended_at: ended_at.map(Timestamp),
            attempt: Some(LastAttempt { n, created_at: at(0), state }),
        }
    }

    #[test]
    fn the_first_and_the_last_attempt_bound_the_retries() {
        let starts = |first: &LastInstance, last: &LastInstance| {
            let times = of_instance(first, last);
            (times.started_at.map(|at| at.0), times.final_start.map(|at| at.0), times.attempts)
        };
        let first = tried(1, true, Some(35));
        assert_eq!(starts(&first, &tried(3, true, Some(35))), (Some(11), Some(31), 3));
        assert_eq!(starts(&first, &first), (Some(11), Some(11), 1));
        // Running again, and waiting for the next attempt.
        assert_eq!(starts(&tried(1, true, None), &tried(2, false, None)), (Some(11), Some(21), 2));
        assert_eq!(starts(&tried(1, true, None), &tried(1, true, None)), (Some(11), None, 1));
        let unbegun = LastInstance { attempt: None, ..tried(1, true, None) };
        assert_eq!(starts(&unbegun, &unbegun), (None, None, 0));
    }
}
