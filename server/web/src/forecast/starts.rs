//! Estimated starts of a run's jobs, and pending reasons that the engine has not stored yet. Computed on
//! request, once for concurrent requests, and cached briefly.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::{Desk, JobId};
use cubeloom_domain::state::WaitReason;
use cubeloom_domain::waiting::StartEstimate;
use cubeloom_domain::{AttemptKey, RunId, Timestamp};
use moka::sync::Cache;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::state::Web;

/// Maximum number of pending instances per run that are simulated: first the first one of each task, then the
/// second ones. Those behind get the result of their task's last simulated one.
const LOOKED_AT: usize = 64;
/// Cache lifetime.
const FRESH: Duration = Duration::from_secs(15);
/// Maximum number of cached runs.
const RUNS: u64 = 1024;
/// Time limit of the simulation. In a long queue, starts far behind stay unknown.
const PLAYED: Duration = Duration::from_secs(1);
/// Time limit for computing the pending reasons.
const EXPLAINED: Duration = Duration::from_millis(200);
/// How long a request waits for the result. Later requests find it in the cache.
const PATIENCE: Duration = Duration::from_millis(500);

/// Pending instances of a run, by task and instance.
#[derive(Debug, Default)]
pub(crate) struct RunStarts(BTreeMap<(String, u32), JobStart>);

/// Estimated start and reason of a pending job.
#[derive(Debug, Default)]
pub(crate) struct JobStart {
    /// Estimated start, if known.
    pub(crate) start: Option<StartEstimate>,
    /// Pending reason at the time of the computation.
    pub(crate) reason: Option<WaitReason>,
}

impl RunStarts {
    /// The entry of an instance of a task.
    pub(crate) fn of(&self, task: &str, instance: u32) -> Option<&JobStart> {
        self.0.get(&(task.to_owned(), instance))
    }
}

/// Cached estimated starts.
pub(crate) struct Starts {
    known: Cache<RunId, Arc<RunStarts>>,
    /// One simulation at a time.
    turn: Arc<Semaphore>,
}

impl Default for Starts {
    fn default() -> Self {
        let known = Cache::builder().max_capacity(RUNS).time_to_live(FRESH).build();
        Self { known, turn: Arc::new(Semaphore::new(1)) }
    }
}

impl Starts {
    /// Estimated starts of a run's pending instances. Empty if nothing is known yet.
    pub(crate) async fn of_run(&self, web: &Web, run: &RunId, cluster: &str) -> Arc<RunStarts> {
        if let Some(known) = self.known.get(run) {
            return known;
        }
        let (web, known, turn) = (web.clone(), self.known.clone(), Arc::clone(&self.turn));
        let (run, cluster) = (run.clone(), cluster.to_owned());
        // Continues when the request is cancelled.
        let work = tokio::spawn(async move {
            let _turn = turn.acquire_owned().await.ok()?;
            if let Some(known) = known.get(&run) {
                return Some(known);
            }
            let desk = super::desk(&web, &cluster).await?;
            let (of, now) = (run.clone(), web.now());
            let found = tokio::task::spawn_blocking(move || Arc::new(play(&desk, &of, now))).await.ok()?;
            known.insert(run, Arc::clone(&found));
            Some(found)
        });
        timeout(PATIENCE, work).await.ok().and_then(Result::ok).flatten().unwrap_or_default()
    }
}

/// Simulates the queue for the pending jobs of a run.
fn play(desk: &Desk, run: &RunId, now: Timestamp) -> RunStarts {
    let mut waiting: BTreeMap<String, BTreeMap<u32, JobId>> = BTreeMap::new();
    for (job, spec) in desk.waiting_jobs().filter(|(_, spec)| spec.key.starts_with(run.as_str())) {
        let Ok(AttemptKey { task, instance, .. }) = spec.key.parse() else { continue };
        waiting.entry(task).or_default().insert(instance, job);
    }
    let mut in_turn: Vec<(usize, JobId)> =
        waiting.values().flat_map(|of_task| of_task.values().copied().enumerate()).collect();
    in_turn.sort_by_key(|(rank, _)| *rank);
    let jobs: Vec<JobId> = in_turn.into_iter().take(LOOKED_AT).map(|(_, job)| job).collect();
    let until = Instant::now() + EXPLAINED;
    let mut reasons: BTreeMap<JobId, WaitReason> = BTreeMap::new();
    for job in jobs.iter().take_while(|_| Instant::now() < until) {
        reasons.extend(desk.reason(*job, now).map(|reason| (*job, reason)));
    }
    let until = Instant::now() + PLAYED;
    // The same seed: repeated requests get the same result while nothing changes.
    let starts = desk.estimates(&jobs, now, 1, &mut || Instant::now() < until);
    let mut found = BTreeMap::new();
    for (task, of_task) in waiting {
        let mut last: Option<(u32, WaitReason)> = None;
        for (rank, (instance, job)) in (0u32..).zip(of_task) {
            let own = reasons.remove(&job);
            let like_the_last = || last.as_ref().map(|(at, reason)| reason.clone().further_behind(rank - at));
            let reason = own.clone().or_else(like_the_last);
            found.insert((task.clone(), instance), JobStart { start: starts.get(&job).copied(), reason });
            // Omit the many blocking jobs: they do not matter to instances further behind.
            last = own.filter(WaitReason::is_of_all).map(|own| (rank, own.further_behind(0))).or(last);
        }
    }
    RunStarts(found)
}
