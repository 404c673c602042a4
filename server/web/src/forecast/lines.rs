//! Queues within a run, due to the parallelism of a task or of the run: what is ahead, what is active, and
//! estimated starts. Computed from the run's rows on request, as every end changes them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::{Lasts, in_line, turns};
use cubeloom_domain::history::History;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::quota::{Pool, held};
use cubeloom_domain::record::{AttemptRecord, InstanceRecord, RunRecord};
use cubeloom_domain::state::{InstanceState, WaitReason};
use cubeloom_domain::waiting::{Explanation, Holder, StartEstimate, WaitRule};
use cubeloom_domain::{InstanceIx, RunId, TaskIx, Timestamp};
use moka::sync::Cache;
use tokio::sync::Semaphore;

use super::{JobStart, RunStarts};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Cache lifetime, so that concurrent requests share a result.
const FRESH: Duration = Duration::from_secs(2);
/// Maximum number of cached runs.
const RUNS: u64 = 256;
/// Maximum number of pending instances, and of attempts, that are read per run. Instances beyond it get only
/// the rule.
const LOOKED_AT: usize = 20_000;
/// Starts are estimated for this many instances at the head of a queue.
const FORESEEN: usize = 500;

/// Cached queues of runs.
pub(crate) struct Lines {
    known: Cache<RunId, Arc<RunLines>>,
    /// One computation at a time: each takes a CPU.
    turn: Semaphore,
}

impl Default for Lines {
    fn default() -> Self {
        let known = Cache::builder().max_capacity(RUNS).time_to_live(FRESH).build();
        Self { known, turn: Semaphore::new(1) }
    }
}

impl Lines {
    /// The queues of a run. `starts` has the estimated starts of instances that left these queues and wait
    /// for resources.
    pub(crate) async fn of_run(
        &self,
        web: &Web,
        run: &RunRecord,
        plan: &Arc<RunPlan>,
        starts: &Arc<RunStarts>,
    ) -> ApiResult<Arc<RunLines>> {
        let all = (0u32..).zip(&plan.tasks).map(|(task, _)| Some(TaskIx(task))).chain([None]);
        let limited: Vec<Option<TaskIx>> = all.filter(|of| parallelism(plan, *of).is_some()).collect();
        if limited.is_empty() {
            return Ok(Arc::default());
        }
        if let Some(known) = self.known.get(&run.id) {
            return Ok(known);
        }
        let _turn = self.turn.acquire().await.map_err(ApiError::internal)?;
        if let Some(known) = self.known.get(&run.id) {
            return Ok(known);
        }
        let store = web.store();
        let mut waiting = store.waiting_of(&run.id, LOOKED_AT).await?;
        let live = store.live_attempts(&run.id, LOOKED_AT).await?;
        let history = store.run_times(&plan.context.project, &plan.pipeline).await?;
        // Instances that were submitted between the two reads are no longer pending.
        let placed: BTreeSet<(TaskIx, InstanceIx)> =
            live.iter().map(|attempt| (attempt.task, attempt.key.instance)).collect();
        waiting.retain(|one| !placed.contains(&(one.task, one.instance)));
        let (of, plan, starts, now) = (run.clone(), Arc::clone(plan), Arc::clone(starts), web.now());
        let work = move || {
            let (run, plan, starts) = (&of, &*plan, &*starts);
            let seen = Seen { run, plan, waiting: &waiting, live: &live, history: &history, starts, now };
            Arc::new(RunLines(limited.into_iter().filter_map(|of| Some((of, seen.line(of)?))).collect()))
        };
        let found = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?;
        self.known.insert(run.id.clone(), Arc::clone(&found));
        Ok(found)
    }
}

/// Parallelism of a task's instances, or of the run's jobs.
fn parallelism(plan: &RunPlan, of: Option<TaskIx>) -> Option<u32> {
    match of {
        Some(task) => plan.task(task).for_each.as_ref()?.parallelism,
        None => plan.parallelism,
    }
}

/// The stored explanation of an instance that waits for others of its run.
fn kept_by(one: &InstanceRecord) -> Option<&Explanation> {
    match &one.state {
        InstanceState::Waiting { reason: Some(WaitReason::Parallelism { why, .. }), .. } => why.as_deref(),
        _ => None,
    }
}

/// Queues of a run: one per limited task, and the run's own.
#[derive(Debug, Default)]
pub(crate) struct RunLines(BTreeMap<Option<TaskIx>, Line>);

/// One queue.
#[derive(Debug)]
struct Line {
    /// Position of each pending instance.
    places: BTreeMap<(TaskIx, InstanceIx), u32>,
    /// Number of active instances: they have left the queue and have not ended.
    active: u32,
    /// The running ones. When one ends, the head of the queue starts.
    holders: Vec<Holder>,
    /// Estimated starts of the instances at the head.
    starts: Vec<Option<StartEstimate>>,
}

impl RunLines {
    /// Why an instance waits in a queue, and its estimated start. `None` if it is in no queue.
    pub(crate) fn of(&self, one: &InstanceRecord) -> Option<JobStart> {
        let noted = kept_by(one)?;
        let of = (noted.rule == WaitRule::TaskParallelism).then_some(one.task);
        let line = self.0.get(&of)?;
        let place = *line.places.get(&(one.task, one.instance))?;
        let holders = if place == 0 { line.holders.clone() } else { Vec::new() };
        let why = Explanation { holders, ahead: place, active: Some(line.active), ..noted.clone() };
        let start = line.starts.get(place as usize).copied().flatten();
        let reason = WaitReason::Parallelism { message: in_line(&why), why: Some(Box::new(why)) };
        Some(JobStart { start, reason: Some(reason) })
    }
}

/// Data that the queues are computed from.
struct Seen<'s> {
    run: &'s RunRecord,
    plan: &'s RunPlan,
    /// Pending instances of the run, by the time at which they became ready.
    waiting: &'s [InstanceRecord],
    /// Attempts that have not ended.
    live: &'s [AttemptRecord],
    history: &'s History,
    /// Estimated starts of instances that wait for resources.
    starts: &'s RunStarts,
    now: Timestamp,
}

impl Seen<'_> {
    /// The queue of a task, or of the run. `None` if it is empty.
    fn line(&self, of: Option<TaskIx>) -> Option<Line> {
        let rule = if of.is_some() { WaitRule::TaskParallelism } else { WaitRule::PipelineParallelism };
        let limit = parallelism(self.plan, of)? as usize;
        let counts = |task: TaskIx| of.is_none_or(|of| of == task);
        let mine = || self.waiting.iter().filter(|one| counts(one.task));
        let stands = |one: &&InstanceRecord| kept_by(one).is_some_and(|why| why.rule == rule);
        if !mine().any(|one| stands(&one)) {
            return None;
        }
        // Instances at the head of their task's queue enter the run's queue, by priority and ready time.
        let comes = |one: &&InstanceRecord| of.is_none() && kept_by(one).is_some();
        let mut waiting: Vec<&InstanceRecord> = mine().filter(|one| stands(one) || comes(one)).collect();
        waiting.sort_by_key(|one| Reverse(self.plan.task(one.task).priority));
        let live: Vec<&AttemptRecord> = self.live.iter().filter(|attempt| counts(attempt.task)).collect();
        let run = live.iter().map(|attempt| {
            (attempt.state.started_at().unwrap_or(attempt.created_at), self.lasts(attempt.task))
        });
        // Instances that left their task's queue may wait in the run's queue.
        let has_turn = |one: &&InstanceRecord| {
            let above = kept_by(one).is_some_and(|why| why.rule == WaitRule::PipelineParallelism);
            one.state.is_queued() || (of.is_some() && above)
        };
        let going: Vec<(Timestamp, Lasts)> =
            run.chain(mine().filter(has_turn).map(|one| self.begins(one))).collect();
        let head: Vec<Lasts> = waiting.iter().take(FORESEEN).map(|one| self.lasts(one.task)).collect();
        let starts = if of.is_some() && self.is_full() {
            Vec::new()
        } else {
            turns(&going, &head, limit, self.now, 1)
        };
        Some(Line {
            places: (0u32..).zip(&waiting).map(|(place, one)| ((one.task, one.instance), place)).collect(),
            active: u32::try_from(going.len()).unwrap_or(u32::MAX),
            holders: live.into_iter().map(|attempt| self.holder(attempt)).collect(),
            starts,
        })
    }

    /// Whether the run's queue blocks instances that left their task's queue: then their start is unknown.
    fn is_full(&self) -> bool {
        let mut kept = self.waiting.iter().filter_map(kept_by);
        kept.any(|why| why.rule == WaitRule::PipelineParallelism)
    }

    /// Expected duration of an attempt, and its timeout.
    fn lasts(&self, task: TaskIx) -> Lasts {
        let planned = self.plan.task(task);
        let node_group = planned.placement.node_group.clone();
        let pool = Pool { cluster: self.plan.cluster.clone(), node_group };
        let length = self.history.of(&planned.name, &self.plan.template_of(planned).name, &pool);
        Lasts { length: length.map(Into::into), limit: planned.timeout.map(|limit| limit.0) }
    }

    /// Estimated start and duration of an instance that left the queue. Without an estimated start, its end
    /// is unknown, too.
    fn begins(&self, one: &InstanceRecord) -> (Timestamp, Lasts) {
        let known = self.starts.of(&self.plan.task(one.task).name, one.instance);
        match known.and_then(|known| known.start) {
            Some(start) => (start.p50, self.lasts(one.task)),
            None => (self.now, Lasts::default()),
        }
    }

    fn holder(&self, attempt: &AttemptRecord) -> Holder {
        Holder {
            key: attempt.key.to_string(),
            project: self.run.project.clone(),
            person: self.run.person().to_owned(),
            amounts: held::amounts(attempt.amount, &attempt.cards, attempt.workers),
        }
    }
}
