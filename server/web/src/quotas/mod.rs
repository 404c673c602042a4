//! Quotas: the tree with current usage and pending jobs, edits, and their simulation.

pub(crate) mod body;
pub(crate) mod edit;
pub(crate) mod preview;
mod show;

use cubeloom_domain::clusters::RUNS;
use cubeloom_domain::quota::held::{Job, amounts};
use cubeloom_domain::quota::room::{Rooms, rooms};
use cubeloom_domain::quota::{Pool, Queue, QueueRecord};
use cubeloom_domain::resources::{Amount, cards};
use cubeloom_domain::state::InstanceState;
use cubeloom_store::{Holding, Waiting};

use crate::clusters;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

pub(crate) use show::shown;

/// Maximum number of pending jobs to read. The ones that wait longest come first.
const LOOKED_AT: usize = 1000;

/// Name of a queue in the audit log: `project/shop`.
pub(crate) fn subject(queue: &Queue) -> String {
    match queue {
        Queue::Group(name) => format!("group/{name}"),
        Queue::Project(name) => format!("project/{name}"),
    }
}

/// Current data for responses about quotas.
pub(crate) struct Present {
    pub queues: Vec<QueueRecord>,
    /// Capacity of the pools.
    pub rooms: Rooms,
    pub running: Vec<Job>,
}

impl Present {
    /// Reads the current data.
    pub async fn of(web: &Web) -> ApiResult<Self> {
        let queues = web.store().queues().await?;
        let rooms = all_rooms(web).await?;
        let running = running(web).await?.into_iter().map(|job| job.told(&rooms)).collect();
        Ok(Self { queues, rooms, running })
    }

    pub fn queue(&self, queue: &Queue) -> Option<&QueueRecord> {
        self.queues.iter().find(|one| one.queue == *queue)
    }
}

/// Settings of a queue.
///
/// # Errors
/// The group or project does not exist.
pub(crate) async fn said_of(web: &Web, queue: &Queue) -> ApiResult<QueueRecord> {
    let found = web.store().queues().await?.into_iter().find(|one| one.queue == *queue);
    found.ok_or_else(|| {
        let what = match queue {
            Queue::Group(_) => "group",
            Queue::Project(_) => "project",
        };
        ApiError::not_found(what, queue.name())
    })
}

/// The pools of all clusters.
pub(crate) async fn all_rooms(web: &Web) -> ApiResult<Rooms> {
    let mut found = Rooms::new();
    for (_, executor) in web.clusters().all() {
        found.extend(rooms(&clusters::facts(&executor).await?));
    }
    Ok(found)
}

/// Running jobs. A sub-run's task has no allocations itself.
async fn running(web: &Web) -> ApiResult<Vec<Job>> {
    let held = web.store().holding().await?;
    Ok(held.into_iter().filter(|held| held.attempt.pool.cluster != RUNS).map(held_by).collect())
}

/// An attempt with allocations, as a quota job.
pub(crate) fn held_by(held: Holding) -> Job {
    let attempt = held.attempt;
    Job {
        amounts: amounts(attempt.amount, &attempt.cards, attempt.workers),
        run: attempt.key.run,
        task: attempt.key.task,
        instance: attempt.key.instance,
        project: held.project,
        pipeline: held.pipeline,
        user: held.user,
        pool: attempt.pool,
        since: attempt.created_at,
    }
}

/// Pending jobs, those that wait longest first, each with its minimum resources.
pub(crate) async fn waiting(web: &Web, rooms: &Rooms) -> ApiResult<Vec<Job>> {
    let found = web.store().waiting(None, LOOKED_AT).await?;
    Ok(found.into_iter().filter_map(asked_by).map(|job| job.told(rooms)).collect())
}

fn asked_by(waiting: Waiting) -> Option<Job> {
    let planned = waiting.planned.filter(|planned| !planned.roles.is_empty())?;
    let InstanceState::Waiting { since, .. } = waiting.instance.state else { return None };
    let least = || planned.least();
    let amount = least().fold(Amount::default(), |sum, (each, count)| sum.plus(Amount::of(each, count)));
    let workers = least().map(|(_, count)| count).fold(0, u32::saturating_add);
    Some(Job {
        amounts: amounts(amount, &cards(least()), workers),
        run: waiting.instance.run,
        task: waiting.task,
        instance: waiting.instance.instance,
        project: waiting.project,
        pipeline: waiting.pipeline,
        user: waiting.user,
        pool: Pool { cluster: waiting.cluster, node_group: planned.placement.node_group },
        since,
    })
}
