//! Recommendations for a task, from the last hour of an attempt's workers.

use cubeloom_compiler::may_be_divided;
use cubeloom_domain::TaskIx;
use cubeloom_domain::monitoring::CardHistory;
use cubeloom_domain::plan::{PlannedRole, PlannedTask, RunPlan};
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::usage::{Measure, WorkerLines};
use cubeloom_monitoring::advice::{Held, Peer, Sharing, of_task};
use cubeloom_monitoring::hour_of;

use super::Reader;
use super::describe::cores;
use super::lines::{read, role_of, until};
use super::usage::attempt_of;
use crate::api::monitoring::view::AdviceView;
use crate::api::tasks::advice::TaskAdviceView;
use crate::error::ApiResult;
use crate::state::Web;

/// A worker with the metrics of its last hour.
struct Worker<'p> {
    name: String,
    /// Its role, with the resources of its workers.
    role: &'p PlannedRole,
    /// Memory of all its GPUs, in bytes.
    card_memory: Option<f64>,
    /// Peak memory usage in that hour, from 0 to 1.
    memory: Option<f64>,
    hour: CardHistory,
}

/// Recommendations for an attempt of an instance: the given one, or the last.
///
/// # Errors
/// The attempt does not exist, or its usage cannot be read now.
pub(crate) async fn advice(
    reader: &Reader<'_>,
    web: &Web,
    task: TaskIx,
    instance: u32,
    attempt: Option<u32>,
) -> ApiResult<TaskAdviceView> {
    let Some((record, planned)) = attempt_of(reader, web, task, instance, attempt).await? else {
        return Ok(TaskAdviceView { attempt: 0, live: false, workers: 0, advice: Vec::new() });
    };
    let told = of_last_pods(read(web, reader, &record, &planned).await?.workers);
    let until = until(web, &record);
    let mut workers: Vec<Worker<'_>> =
        told.into_iter().filter_map(|lines| worker(lines, &planned.roles, until.0 as f64 / 1e6)).collect();
    // Workers of a role are compared with each other: sort them next to each other, the first one first.
    workers.sort_by_key(|worker| (&worker.role.name, worker.name.len(), worker.name.clone()));
    let seconds = record.state.started_at().map_or(0.0, |since| until.since(since).as_secs_f64());
    let peers: Vec<Peer<'_>> = workers
        .iter()
        .map(|worker| Peer {
            worker: &worker.name,
            role: &worker.role.name,
            held: held(worker, &record, sharing(&reader.plan, &planned, worker.role), seconds),
        })
        .collect();
    // Workers that ended are still reported for an hour.
    let count = record.workers.max(u32::try_from(peers.len()).unwrap_or(u32::MAX));
    let found = of_task(&peers, &web.settings().advice);
    let advice = found.into_iter().map(|one| AdviceView::of_workers(one, &record.key)).collect();
    let (attempt, live) = (record.key.n, record.state.is_live());
    Ok(TaskAdviceView { attempt, live, workers: count, advice })
}

fn held<'w>(worker: &'w Worker<'_>, record: &AttemptRecord, sharing: Sharing, seconds: f64) -> Held<'w> {
    let sized = record.sizing.as_ref().and_then(|sizing| sizing.of(&worker.role.name));
    Held {
        history: &worker.hour,
        seconds,
        cores: Some(cores(worker.role.resources.cpu.0)),
        asked: sized.map(|sized| cores(sized.asked.cpu.0)),
        card_memory: worker.card_memory,
        memory: worker.memory,
        sharing,
    }
}

/// How the GPUs of a role can be shared. Excludes sharing that the plan would refuse or warn about.
pub(crate) fn sharing(plan: &RunPlan, task: &PlannedTask, role: &PlannedRole) -> Sharing {
    let each = role.resources.processes_per_gpu;
    Sharing {
        processes: may_be_divided(plan, task, &role.name).then_some(each.unwrap_or(1)),
        parts: task.gang <= 1 && each.is_none(),
    }
}

fn worker<'p>(lines: WorkerLines, roles: &'p [PlannedRole], until: f64) -> Option<Worker<'p>> {
    let role = role_of(&lines.worker, roles)?;
    let cards = role.resources.gpu.as_ref().map_or(1, |gpu| gpu.count.unwrap_or(1)).max(1);
    let hour = hour_of(&lines, cards, until);
    Some(Worker {
        role,
        memory: memory_share(&lines, role, hour.start),
        card_memory: lines.card_memory.map(|bytes| bytes / f64::from(cards)),
        hour,
        name: lines.worker,
    })
}

/// One entry per worker. Controllers that append a random suffix to pod names create a second pod when a
/// worker's first one is gone: the one with the latest sample wins.
fn of_last_pods(told: Vec<WorkerLines>) -> Vec<WorkerLines> {
    let mut kept: Vec<WorkerLines> = Vec::new();
    for lines in told {
        match kept.iter_mut().find(|one| one.worker == lines.worker) {
            Some(one) if span(&lines) > span(one) => *one = lines,
            Some(_) => {}
            None => kept.push(lines),
        }
    }
    kept
}

/// Times of a pod's last and first sample, in seconds since the epoch. Prometheus keeps reporting a deleted
/// pod for a few minutes: of two pods with the same last sample, the later one started later.
fn span(lines: &WorkerLines) -> (f64, f64) {
    let ends = lines.lines.values().filter_map(|points| Some((points.last()?[0], points.first()?[0])));
    ends.fold((f64::NEG_INFINITY, f64::INFINITY), |(last, first), (end, begin)| {
        (last.max(end), first.min(begin))
    })
}

/// Peak memory usage of a worker since a time (seconds since the epoch), from 0 to 1.
fn memory_share(lines: &WorkerLines, role: &PlannedRole, since: f64) -> Option<f64> {
    let used = lines.lines.get(&Measure::Memory)?.iter().filter(|[at, _]| *at >= since);
    let peak = used.map(|[_, bytes]| *bytes).reduce(f64::max)?;
    let has = role.resources.memory.0 as f64;
    (has > 0.0).then(|| peak / has)
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::usage::Point;

    use super::*;

    #[test]
    fn of_a_worker_that_has_had_two_pods_the_last_one_counts() {
        let pod = |worker: &str, points: &[Point]| WorkerLines {
            worker: worker.into(),
            lines: [(Measure::Cpu, points.to_vec())].into(),
            ..WorkerLines::default()
        };
        let empty = WorkerLines { worker: "worker-0".into(), ..WorkerLines::default() };
        let dead = pod("worker-0", &[[0.0, 4.0], [600.0, 4.0]]);
        let present = pod("worker-0", &[[700.0, 0.5], [900.0, 0.5]]);
        // Still reported for a while after its end.
        let stale = pod("worker-0", &[[0.0, 4.0], [900.0, 4.0]]);
        let other = pod("worker-1", &[[0.0, 1.0], [900.0, 1.0]]);
        for gone in [&dead, &stale, &empty] {
            for told in [[gone, &present, &other], [&present, gone, &other]] {
                let found = of_last_pods(told.map(Clone::clone).to_vec());
                assert_eq!(found, [present.clone(), other.clone()]);
            }
        }
    }
}
