//! What the workers of an attempt use over time, as lines that a chart can show.

use cubeloom_domain::TaskIx;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::usage::{Measure, Quantity, WorkerLines};

use super::lines::{ALL, Told, read, role_of};
use super::series::thin;
use super::{Reader, describe};
use crate::api::tasks::usage::{LineView, TaskUsageView, WorkerUsageView};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Points of a line.
const POINTS: usize = 1_000;

/// The usage of an attempt at an instance: the last one, unless one is named.
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
    let workers: Vec<WorkerUsageView> = told.iter().map(|one| worker(one, &planned)).collect();
    let is_missing = |quantity: &Quantity| {
        let tells = |worker: &WorkerLines| worker.lines.keys().any(|measure| measure.quantity() == *quantity);
        let held = *quantity != Quantity::Cards || workers.iter().any(|worker| worker.cards);
        !told.iter().any(tells) && held && (never.contains(quantity) || !workers.is_empty())
    };
    let missing = ALL.iter().filter(|quantity| is_missing(quantity));
    let missing = missing.map(|quantity| quantity.as_str().to_owned()).collect();
    Ok(TaskUsageView { attempt: record.key.n, live: record.state.is_live(), workers, missing })
}

/// An attempt at an instance, the last one, unless one is named, and the task with what the attempt had, which may be something
/// else than what was asked for. `None` where there was none yet.
///
/// # Errors
/// There is none of this number, or the database does not answer.
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

fn worker(told: &WorkerLines, planned: &PlannedTask) -> WorkerUsageView {
    let role = role_of(&told.worker, &planned.roles).map(describe::role);
    WorkerUsageView {
        worker: told.worker.clone(),
        cpu: role.as_ref().map(|role| role.cpu).filter(|cpu| *cpu > 0.0),
        memory: role.as_ref().map(|role| role.memory).filter(|memory| *memory > 0),
        cards: role.is_some_and(|role| role.gpu.is_some()),
        card_memory: told.card_memory,
        lines: Measure::ALL.into_iter().filter_map(|measure| line(told, measure)).collect(),
    }
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
