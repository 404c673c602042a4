//! Resource usage of an attempt's workers as series for charts.

use std::iter;

use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::sizing::{Size, SizeChange};
use cubeloom_domain::usage::{Measure, Quantity, WorkerLines};
use cubeloom_domain::{TaskIx, Timestamp};

use super::Reader;
use super::describe::cores;
use super::lines::{ALL, Told, read, role_of};
use super::series::thin;
use crate::api::tasks::usage::{LineView, SizeLimitView, TaskUsageView, WorkerUsageView};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;
use crate::time::Time;

/// Maximum number of points of a series.
const POINTS: usize = 1_000;

/// Number of a task's size changes to read, including the attempt's. As many as are stored.
const CHANGES: u32 = 200;

/// Usage of an attempt of an instance: the given one, or the last.
pub(crate) async fn usage(
    reader: &Reader<'_>,
    web: &Web,
    task: TaskIx,
    instance: u32,
    attempt: Option<u32>,
) -> ApiResult<TaskUsageView> {
    let Some((record, planned)) = attempt_of(reader, web, task, instance, attempt).await? else {
        return Ok(TaskUsageView { attempt: 0, live: false, workers: Vec::new(), missing: Vec::new() });
    };
    let Told { workers: told, never } = read(web, reader, &record, &planned).await?;
    let had =
        Had { asked: reader.plan.task(task), changes: changes(reader, web, &record).await?, record: &record };
    let workers: Vec<WorkerUsageView> = told.iter().map(|one| had.worker(one)).collect();
    let is_missing = |quantity: &Quantity| {
        let tells = |worker: &WorkerLines| worker.lines.keys().any(|measure| measure.quantity() == *quantity);
        // Without GPUs or a CPU limit, omit the quantity.
        let held = match quantity {
            Quantity::Cards => workers.iter().any(|worker| worker.cards),
            Quantity::Throttled => workers.iter().any(|worker| worker.cpu_limit.is_some()),
            _ => true,
        };
        !told.iter().any(tells) && held && (never.contains(quantity) || !workers.is_empty())
    };
    let missing = ALL.iter().filter(|quantity| is_missing(quantity));
    let missing = missing.map(|quantity| quantity.as_str().to_owned()).collect();
    Ok(TaskUsageView { attempt: record.key.n, live: record.state.is_live(), workers, missing })
}

/// An attempt of an instance, the given one or the last, and its task with the attempt's actual resources.
/// They may differ from the requested ones. `None` before the first attempt.
///
/// # Errors
/// The attempt does not exist.
pub(super) async fn attempt_of(
    reader: &Reader<'_>,
    web: &Web,
    task: TaskIx,
    instance: u32,
    attempt: Option<u32>,
) -> ApiResult<Option<(AttemptRecord, PlannedTask)>> {
    let mut attempts = web.store().attempts_of(&reader.record.id, task, instance).await?;
    let record = match attempt {
        Some(n) => {
            let place = attempts.iter().position(|attempt| attempt.key.n == n);
            let place = place.ok_or_else(|| ApiError::not_found("attempt", n.to_string()))?;
            Some(attempts.swap_remove(place))
        }
        None => attempts.pop(),
    };
    let planned = reader.plan.task(task);
    Ok(record.map(|record| {
        let planned = record.sizing.as_ref().map_or_else(|| planned.clone(), |sizing| planned.sized(sizing));
        (record, planned)
    }))
}

/// Size changes of an attempt's workers while they ran, the newest first.
async fn changes(reader: &Reader<'_>, web: &Web, record: &AttemptRecord) -> ApiResult<Vec<SizeChange>> {
    // Few attempts change size. For the others, read nothing.
    if record.sizing.as_ref().and_then(|sizing| sizing.changed_at()).is_none() {
        return Ok(Vec::new());
    }
    let run = &reader.record;
    let mut changes =
        web.store().size_changes(&run.project, &run.pipeline, &record.key.task, CHANGES).await?;
    changes.retain(|change| change.attempt == record.key);
    Ok(changes)
}

/// Requested and actual resources of an attempt's workers.
struct Had<'p> {
    asked: &'p PlannedTask,
    changes: Vec<SizeChange>,
    record: &'p AttemptRecord,
}

impl Had<'_> {
    fn worker(&self, told: &WorkerLines) -> WorkerUsageView {
        let role = role_of(&told.worker, &self.asked.roles);
        let asked = role.map(|role| Size::of(&role.resources));
        WorkerUsageView {
            worker: told.worker.clone(),
            asked: asked.map(Into::into),
            limits: role.zip(asked).map(|(role, asked)| self.limits(&role.name, asked)).unwrap_or_default(),
            cpu_limit: role.and_then(|role| role.resources.most_cpu()).map(|most| cores(most.0)),
            cards: role.is_some_and(|role| role.resources.gpu.is_some()),
            card_memory: told.card_memory,
            lines: Measure::ALL.into_iter().filter_map(|measure| line(told, measure)).collect(),
        }
    }

    fn limits(&self, role: &str, asked: Size) -> Vec<SizeLimitView> {
        let has =
            self.record.sizing.as_ref().and_then(|sizing| sizing.of(role)).map_or(asked, |sized| sized.gets);
        let from = self.record.state.started_at().unwrap_or(self.record.created_at);
        let view = |(at, size): (Timestamp, Size)| SizeLimitView {
            at: Time(at),
            cpu: cores(size.cpu.0),
            memory: size.memory.0,
        };
        limits(role, has, from, &self.changes).into_iter().map(view).collect()
    }
}

/// Limits of a role's workers over time. The record has only the last change, so the oldest of `changes`
/// (newest first) gives the initial size.
fn limits(role: &str, has: Size, from: Timestamp, changes: &[SizeChange]) -> Vec<(Timestamp, Size)> {
    let of_role = changes.iter().rev().map(|change| &change.sized).filter(|sized| sized.role == role);
    let steps: Vec<_> = of_role.filter_map(|sized| Some((sized.changed_at()?, sized))).collect();
    let began = steps.first().and_then(|(_, sized)| sized.before).unwrap_or(has);
    iter::once((from, began)).chain(steps.iter().map(|(at, sized)| (*at, sized.gets))).collect()
}

fn line(told: &WorkerLines, measure: Measure) -> Option<LineView> {
    let points = told.lines.get(&measure)?;
    Some(LineView {
        name: measure.as_str().into(),
        unit: measure.unit().into(),
        peak: points.iter().map(|point| point[1]).fold(0.0, f64::max),
        points: thin(points, POINTS),
    })
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::quantity::{Bytes, Cpu};
    use cubeloom_domain::sizing::{Reason, SizedRole};
    use cubeloom_domain::{AttemptKey, RunId};

    use super::*;

    fn size(memory: u64) -> Size {
        Size { cpu: Cpu(500), memory: Bytes(memory) }
    }

    #[test]
    fn a_limit_rises_when_workers_get_more_and_falls_when_the_cluster_does_not_give_it() {
        let key = AttemptKey { run: RunId::new(Timestamp(0), 7), task: "train".into(), instance: 0, n: 1 };
        let began = SizedRole::asked("worker", size(128), Reason::Asked, Reason::Asked);
        let grown = began.clone().grown(Bytes(192), Timestamp(20));
        let more = grown.clone().grown(Bytes(288), Timestamp(30));
        let less = more.not_given(Bytes(288), Timestamp(40), "no room").unwrap();
        let has = less.gets;
        let other =
            SizedRole::asked("ps", size(64), Reason::Asked, Reason::Asked).grown(Bytes(96), Timestamp(25));
        // `began` records a change of something else. It has no change time, so it is no step.
        let newest_first = [less, more, other, grown, began].map(|sized| SizeChange {
            attempt: key.clone(),
            at: sized.changed_at().unwrap_or_default(),
            sized,
        });
        let steps =
            [(10, 128), (20, 192), (30, 288), (40, 192)].map(|(at, memory)| (Timestamp(at), size(memory)));
        assert_eq!(limits("worker", has, Timestamp(10), &newest_first), steps);
        assert_eq!(limits("launcher", size(5), Timestamp(10), &newest_first), [(Timestamp(10), size(5))]);
    }
}
