//! What waits on other servers and what is held there, read at each look: the few columns that change from the instances,
//! and once the tasks of their runs, with how long these take.

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

/// So many instances that wait elsewhere are known, those that wait longest.
const KNOWN: usize = 1000;
/// The plans of so many runs one look reads, and the lengths of so many pipelines that hold something.
const RUNS_A_LOOK: usize = 100;

/// How often the other servers are told at the most that something has changed for what waits there.
const TELL_AGAIN: Duration = Duration::from_millis(500);

/// What is known of other servers, and when they are told of this one.
#[derive(Default)]
pub struct Elsewhere {
    /// The runs of which something waits there.
    runs: BTreeMap<RunId, Planned>,
    /// How long the tasks take of those pipelines, by project and name, of which something is held there.
    holders: BTreeMap<(String, String), History>,
    /// What was held there when that was read of its pipeline.
    seen: HashSet<AttemptKey>,
    told: Option<Instant>,
    /// When they are to be told again.
    pub tell_by: Option<Instant>,
}

/// What was planned of a run, as far as it was asked for.
struct Planned {
    /// The plan without its tasks. None where this program cannot read it.
    head: Option<RunPlan>,
    history: History,
    /// None where it waits for no place on the cluster.
    tasks: BTreeMap<TaskIx, Option<Known>>,
}

/// A task, and how long it takes as far as its history says.
type Known = (Arc<PlannedTask>, Option<Length>);

impl Elsewhere {
    /// What waits on servers other than `owner`.
    ///
    /// # Errors
    /// When the database does not answer.
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

    /// What is held on servers other than `owner`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn read_held(&mut self, store: &Store, owner: &str) -> Result<Vec<ForeignHold>, StoreError> {
        let held = store.held_elsewhere(owner).await?;
        let of = |holding: &Holding| (holding.project.clone(), holding.pipeline.clone());
        let pipelines: BTreeSet<(String, String)> = held.iter().map(of).collect();
        self.holders.retain(|pipeline, _| pipelines.contains(pipeline));
        // Where something new is held, something of the pipeline has often ended: how long that took counts, too.
        let is_new = |holding: &&Holding| !self.seen.contains(&holding.attempt.key);
        let new: BTreeSet<(String, String)> = held.iter().filter(is_new).map(of).collect();
        let mut new: Vec<(String, String)> = new.into_iter().collect();
        // Those first of which nothing was read.
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

    /// Notes what was stored: where something waits on the other servers, they are told that this one has started or ended a
    /// job. What they wait for may be free, or what is kept for this one needed no more.
    pub fn note(&mut self, stored: &Changes, waits_elsewhere: bool) {
        let is_news = |attempt: &AttemptRecord| {
            matches!(attempt.state, AttemptState::Submitting | AttemptState::Ended { .. })
        };
        if waits_elsewhere && stored.attempts.iter().any(is_news) {
            let now = Instant::now();
            self.tell_by.get_or_insert(self.told.map_or(now, |told| now.max(told + TELL_AGAIN)));
        }
    }

    /// Tells them, if it is time.
    pub async fn tell(&mut self, store: &Store) {
        let now = Instant::now();
        if self.tell_by.is_none_or(|by| by > now) {
            return;
        }
        (self.told, self.tell_by) = (Some(now), None);
        if let Err(error) = store.wake_others().await {
            tracing::debug!(%error, "the other servers were not told; they look by themselves");
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

    /// Reads those tasks that were not asked for before.
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
            // What a person does, or another pipeline, waits for no place on the cluster.
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

/// What was read; none where a newer program wrote it, whose server will lead it to its end.
fn readable<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(StoreError::Unreadable { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
