//! Who waits for others of its own run, since only so many of a task's instances, or of the run's jobs, go on at once: who is
//! before it, who is under way, and when it may be its turn. Read from the run's rows when somebody looks, as every end changes
//! it.

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

/// How long an answer is good: for all who look at the same moment.
const FRESH: Duration = Duration::from_secs(2);
/// How many runs are remembered.
const RUNS: u64 = 256;
/// Of a run, so many instances that wait are looked at, and so many attempts: those behind them are told the rule alone.
const LOOKED_AT: usize = 20_000;
/// Of so many in a line it is worked out when it is their turn.
const FORESEEN: usize = 500;

/// The lines of runs, as they were a moment ago.
pub(crate) struct Lines {
    known: Cache<RunId, Arc<RunLines>>,
    /// One is worked out at a time: that takes a core.
    turn: Semaphore,
}

impl Default for Lines {
    fn default() -> Self {
        let known = Cache::builder().max_capacity(RUNS).time_to_live(FRESH).build();
        Self { known, turn: Semaphore::new(1) }
    }
}

impl Lines {
    /// The lines of a run. `starts` says when those may start that have had their turn, and wait for a place.
    ///
    /// # Errors
    /// When the database does not answer.
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
        // Who has got a place between the two reads waits no more.
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

/// How many instances of a task, or jobs of the run, may go on at once.
fn parallelism(plan: &RunPlan, of: Option<TaskIx>) -> Option<u32> {
    match of {
        Some(task) => plan.task(task).for_each.as_ref()?.parallelism,
        None => plan.parallelism,
    }
}

/// What the engine has noted of what waits for others of its run.
fn kept_by(one: &InstanceRecord) -> Option<&Explanation> {
    match &one.state {
        InstanceState::Waiting { reason: Some(WaitReason::Parallelism { why, .. }), .. } => why.as_deref(),
        _ => None,
    }
}

/// The lines of a run: those of its tasks, and its own.
#[derive(Debug, Default)]
pub(crate) struct RunLines(BTreeMap<Option<TaskIx>, Line>);

/// Single line of text.
#[derive(Debug)]
struct Line {
    /// Where each stands that waits.
    places: BTreeMap<(TaskIx, InstanceIx), u32>,
    /// How many have had their turn and have not ended.
    active: u32,
    /// Those of them that run. The end of one is the turn of the first in the line.
    holders: Vec<Holder>,
    /// When it is the turn of those at its head.
    starts: Vec<Option<StartEstimate>>,
}

impl RunLines {
    /// Why an instance waits, and when it may be its turn, where it waits in a line.
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

/// What the lines of a run are told from.
struct Seen<'s> {
    run: &'s RunRecord,
    plan: &'s RunPlan,
    /// Its instances that wait, those that were ready first.
    waiting: &'s [InstanceRecord],
    /// Its attempts that have not ended.
    live: &'s [AttemptRecord],
    history: &'s History,
    /// When those may start that wait for a place.
    starts: &'s RunStarts,
    now: Timestamp,
}

impl Seen<'_> {
    /// The line of a task, or of the run. `None` where nobody stands in it.
    fn line(&self, of: Option<TaskIx>) -> Option<Line> {
        let rule = if of.is_some() { WaitRule::TaskParallelism } else { WaitRule::PipelineParallelism };
        let limit = parallelism(self.plan, of)? as usize;
        let counts = |task: TaskIx| of.is_none_or(|of| of == task);
        let mine = || self.waiting.iter().filter(|one| counts(one.task));
        let stands = |one: &&InstanceRecord| kept_by(one).is_some_and(|why| why.rule == rule);
        if !mine().any(|one| stands(&one)) {
            return None;
        }
        // Whose turn comes in the line of its task stands in that of the run by its priority and by when it was ready.
        let comes = |one: &&InstanceRecord| of.is_none() && kept_by(one).is_some();
        let mut waiting: Vec<&InstanceRecord> = mine().filter(|one| stands(one) || comes(one)).collect();
        waiting.sort_by_key(|one| Reverse(self.plan.task(one.task).priority));
        let live: Vec<&AttemptRecord> = self.live.iter().filter(|attempt| counts(attempt.task)).collect();
        let run = live.iter().map(|attempt| {
            (attempt.state.started_at().unwrap_or(attempt.created_at), self.lasts(attempt.task))
        });
        // What has had its turn in the line of its task may stand in that of the run.
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

    /// Whether the line of the run keeps what has its turn in that of its task: nobody says then when that starts.
    fn is_full(&self) -> bool {
        let mut kept = self.waiting.iter().filter_map(kept_by);
        kept.any(|why| why.rule == WaitRule::PipelineParallelism)
    }

    /// How long an attempt at a task takes.
    fn lasts(&self, task: TaskIx) -> Lasts {
        let planned = self.plan.task(task);
        let node_group = planned.placement.node_group.clone();
        let pool = Pool { cluster: self.plan.cluster.clone(), node_group };
        let length = self.history.of(&planned.name, &self.plan.template_of(planned).name, &pool);
        Lasts { length: length.map(Into::into), limit: planned.timeout.map(|limit| limit.0) }
    }

    /// When one begins that has had its turn, and how long it takes. Where nobody knows the one, nobody knows when it ends.
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
