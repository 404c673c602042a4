//! Pending and running jobs of other servers, read at each look. The changing columns come from the
//! instances; the tasks of their runs, with expected durations, are read once.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::Length;
use cubeloom_domain::history::History;
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{AttemptRecord, Changes};
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::{AttemptKey, RunId, TaskIx, Timestamp};
use cubeloom_store::{Holding, Store, StoreError, WaitingElsewhere};
use tokio::time::Instant;

use crate::core::{Foreign, ForeignHold};

/// Maximum number of known pending instances elsewhere: those pending longest.
const KNOWN: usize = 1000;
/// Maximum number of runs whose plans one look reads, and of pipelines with running jobs whose durations it
/// reads.
const RUNS_A_LOOK: usize = 100;

/// Minimum interval between notifications to the other servers that something they wait for has changed.
const TELL_AGAIN: Duration = Duration::from_millis(500);

/// What is known of other servers, and when to notify them.
#[derive(Default)]
pub struct Elsewhere {
    /// The runs with pending jobs there.
    runs: BTreeMap<RunId, Planned>,
    /// Expected durations of the tasks of pipelines with running jobs there, by project and name.
    holders: BTreeMap<(String, String), History>,
    /// The attempts running there when their pipelines' durations were read.
    seen: HashSet<AttemptKey>,
    told: Option<Instant>,
    /// When to notify them next.
    pub tell_by: Option<Instant>,
}

/// The parts of a run's plan that were needed so far.
struct Planned {
    /// The plan without its tasks. `None` if this program cannot read it.
    head: Option<RunPlan>,
    history: History,
    /// `None` for a task that is never pending for the cluster.
    tasks: BTreeMap<TaskIx, Option<Known>>,
}

/// A task, and its expected duration from history.
type Known = (Arc<PlannedTask>, Option<Length>);

impl Elsewhere {
    /// The pending jobs of servers other than `owner`.
    pub async fn read(
        &mut self,
        store: &Store,
        owner: &str,
        now: Timestamp,
    ) -> Result<Vec<Foreign>, StoreError> {
        let rows = store.waiting_elsewhere(owner, now, KNOWN).await?;
        let mut wanted: BTreeMap<&RunId, Vec<&WaitingElsewhere>> = BTreeMap::new();
        for row in &rows {
            wanted.entry(&row.run).or_default().push(row);
        }
        self.runs.retain(|run, _| wanted.contains_key(run));
        let mut new = 0;
        for (run, rows) in &wanted {
            if !self.runs.contains_key(run) {
                new += 1;
                if new > RUNS_A_LOOK {
                    continue;
                }
                self.runs.insert((*run).clone(), Planned::read(store, rows[0]).await?);
            }
            if let Some(planned) = self.runs.get_mut(run) {
                planned.read_tasks(store, run, rows).await?;
            }
        }
        Ok(rows.iter().filter_map(|row| self.runs.get(&row.run)?.job(row)).collect())
    }

    /// The running jobs of servers other than `owner`.
    pub async fn read_held(&mut self, store: &Store, owner: &str) -> Result<Vec<ForeignHold>, StoreError> {
        let held = store.held_elsewhere(owner).await?;
        let of = |holding: &Holding| (holding.project.clone(), holding.pipeline.clone());
        let pipelines: BTreeSet<(String, String)> = held.iter().map(of).collect();
        self.holders.retain(|pipeline, _| pipelines.contains(pipeline));
        // A new attempt often means that another of the pipeline has ended: its duration counts, too.
        let is_new = |holding: &&Holding| !self.seen.contains(&holding.attempt.key);
        let new: BTreeSet<(String, String)> = held.iter().filter(is_new).map(of).collect();
        let mut new: Vec<(String, String)> = new.into_iter().collect();
        // Pipelines that were never read come first.
        new.sort_by_key(|pipeline| self.holders.contains_key(pipeline));
        new.truncate(RUNS_A_LOOK);
        for (project, pipeline) in &new {
            let history = readable(store.run_times(project, pipeline).await)?.unwrap_or_default();
            self.holders.insert((project.clone(), pipeline.clone()), history);
        }
        let was_read = |holding: &&Holding| !is_new(holding) || new.contains(&of(holding));
        self.seen = held.iter().filter(was_read).map(|holding| holding.attempt.key.clone()).collect();
        let with_length = |holding: Holding| {
            let attempt = &holding.attempt;
            let length = self.holders.get(&of(&holding)).and_then(|history| {
                history.of(&attempt.key.task, &attempt.account.template, &attempt.pool).map(Into::into)
            });
            ForeignHold { holding, length }
        };
        Ok(held.into_iter().map(with_length).collect())
    }

    /// Records what was stored. If other servers have pending jobs, they are notified that a job has
    /// started or ended here. What they wait for may be free, or a reservation for this server may no
    /// longer be needed.
    pub fn note(&mut self, stored: &Changes, waits_elsewhere: bool) {
        let is_news = |attempt: &AttemptRecord| {
            matches!(attempt.state, AttemptState::Submitting | AttemptState::Ended { .. })
        };
        if waits_elsewhere && stored.attempts.iter().any(is_news) {
            let now = Instant::now();
            self.tell_by.get_or_insert(self.told.map_or(now, |told| now.max(told + TELL_AGAIN)));
        }
    }

    /// Notifies them, if it is time.
    pub async fn tell(&mut self, store: &Store) {
        let now = Instant::now();
        if self.tell_by.is_none_or(|by| by > now) {
            return;
        }
        (self.told, self.tell_by) = (Some(now), None);
        if let Err(error) = store.wake_others().await {
            tracing::debug!(%error, "other servers could not be notified; they will notice at their next poll");
        }
    }
}

impl Planned {
    async fn read(store: &Store, row: &WaitingElsewhere) -> Result<Self, StoreError> {
        let head = readable(store.plan_head(&row.run).await)?.flatten();
        let history = match &head {
            Some(_) => readable(store.run_times(&row.project, &row.pipeline).await)?.unwrap_or_default(),
            None => History::default(),
        };
        Ok(Self { head, history, tasks: BTreeMap::new() })
    }

    /// Reads the tasks that were not needed before.
    async fn read_tasks(
        &mut self,
        store: &Store,
        run: &RunId,
        rows: &[&WaitingElsewhere],
    ) -> Result<(), StoreError> {
        let Some(head) = &self.head else { return Ok(()) };
        let mut new: Vec<TaskIx> =
            rows.iter().map(|row| row.task).filter(|task| !self.tasks.contains_key(task)).collect();
        new.sort_unstable();
        new.dedup();
        if new.is_empty() {
            return Ok(());
        }
        let mut found = readable(store.planned_tasks(run, &new).await)?.unwrap_or_default();
        for ix in new {
            // An approval, or a task that triggers another pipeline, is never pending for the cluster.
            let task = found.remove(&ix).filter(|task| !task.roles.is_empty()).map(|task| {
                let pool =
                    Pool { cluster: head.cluster.clone(), node_group: task.placement.node_group.clone() };
                let length =
                    self.history.of(&task.name, &head.template_of(&task).name, &pool).map(Into::into);
                (Arc::new(task), length)
            });
            self.tasks.insert(ix, task);
        }
        Ok(())
    }

    fn job(&self, row: &WaitingElsewhere) -> Option<Foreign> {
        let (task, length) = self.tasks.get(&row.task)?.as_ref()?;
        Some(Foreign {
            key: AttemptKey {
                run: row.run.clone(),
                task: task.name.clone(),
                instance: row.instance,
                n: row.n,
            },
            server: row.server.clone(),
            project: row.project.clone(),
            person: row.user.clone(),
            cluster: self.head.as_ref()?.cluster.clone(),
            task: Arc::clone(task),
            length: *length,
            since: row.since,
            cool_until: row.cool_until,
        })
    }
}

/// The value that was read. `None` if a newer program wrote it: that program's server will lead the run to
/// its end.
fn readable<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(StoreError::Unreadable { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
