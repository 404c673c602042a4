//! Selects the worker for a terminal: in the last attempt of a failed instance, the worker that failed first.

use std::sync::Arc;

use cubeloom_domain::executor::Executor;
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::record::{AttemptRecord, InstanceRecord};
use cubeloom_domain::state::InstanceState;
use cubeloom_domain::{RunId, TaskIx};

use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::runs::job::Material;
use crate::runs::{Reader, secrets};
use crate::state::Web;

/// Target of a terminal.
pub(crate) struct Place {
    pub(crate) executor: Arc<dyn Executor>,
    /// Job of the attempt, for the user who opens the terminal.
    pub(crate) job: Job,
    pub(crate) worker: WorkerName,
    pub(crate) rank: u32,
}

/// Whether terminals can be opened for an instance in this state: it ended without success.
pub(crate) fn is_open_to(state: &InstanceState) -> bool {
    matches!(state, InstanceState::Failed { .. } | InstanceState::Cancelled)
}

/// Whether the cluster supports terminals.
pub(crate) fn can(web: &Web, cluster: &str) -> bool {
    let can = |executor: Arc<dyn Executor>| executor.terminals().is_some();
    web.terminals().settings().most > 0 && web.clusters().get(cluster).is_some_and(can)
}

impl Place {
    /// Finds the target. `worker` is the requested one.
    ///
    /// # Errors
    /// There is no such worker, or terminals are unavailable there. The message says why.
    pub(crate) async fn find(
        web: &Web,
        caller: &Caller,
        reader: &Reader<'_>,
        (task, instance): (TaskIx, u32),
        worker: Option<&str>,
    ) -> ApiResult<Self> {
        let run = &reader.record.id;
        let ended = ended(web, reader, task, instance).await?;
        let attempt = last_attempt(web, run, task, instance).await?;
        let executor = executor(web, &reader.plan.cluster)?;
        let planned = reader.plan.task(task);
        secrets::demand_of(web, caller, &reader.record, &reader.plan, std::iter::once(planned)).await?;
        let material = Material::read(web, run, Arc::clone(&reader.plan), task).await?;
        let job = tokio::task::spawn_blocking(move || material.job(&attempt)).await;
        let job = job.map_err(ApiError::internal)?.map_err(|failure| ApiError::conflict(failure.message))?;
        let job = Job { user: caller.acting(), ..job };
        let (rank, worker) = chosen(&job, &ended, worker)?;
        Ok(Self { executor, job, worker, rank })
    }
}

/// The instance, which must have ended without success.
async fn ended(web: &Web, reader: &Reader<'_>, task: TaskIx, instance: u32) -> ApiResult<InstanceRecord> {
    let planned = reader.plan.task(task);
    if planned.roles.is_empty() {
        let name = &planned.name;
        let message = if planned.calls {
            format!("the task `{name}` runs another pipeline: open a terminal at the failed task there")
        } else {
            format!("the task `{name}` is done by a person: it has no worker for a terminal")
        };
        return Err(ApiError::conflict(message));
    }
    let found = web.store().instance(&reader.record.id, task, instance).await?;
    let found = found.ok_or_else(|| ApiError::not_found("instance", instance))?;
    if is_open_to(&found.state) {
        return Ok(found);
    }
    Err(ApiError::conflict(if found.state.is_final() {
        format!(
            "the task `{}` has not failed: terminals open only on failed or cancelled tasks",
            planned.name
        )
    } else {
        format!("the task `{}` has not ended: terminals open only on failed or cancelled tasks", planned.name)
    }))
}

async fn last_attempt(web: &Web, run: &RunId, task: TaskIx, instance: u32) -> ApiResult<AttemptRecord> {
    let last = web.store().attempts_of(run, task, instance).await?.pop();
    last.ok_or_else(|| ApiError::conflict("it never started: there is no attempt to inspect"))
}

fn executor(web: &Web, cluster: &str) -> ApiResult<Arc<dyn Executor>> {
    let executor = web.clusters().get(cluster);
    let executor =
        executor.ok_or_else(|| ApiError::unavailable(format!("the cluster `{cluster}` is unknown")))?;
    if executor.terminals().is_none() {
        return Err(ApiError::conflict(format!(
            "terminals cannot be opened on the cluster `{cluster}`: it cannot start a shell in a worker's environment"
        )));
    }
    Ok(executor)
}

/// The requested worker, else the one that failed first, else the first.
fn chosen(job: &Job, ended: &InstanceRecord, wanted: Option<&str>) -> ApiResult<(u32, WorkerName)> {
    let names = job
        .roles
        .iter()
        .flat_map(|role| (0..role.replicas).map(move |index| WorkerName { role: role.name.clone(), index }));
    let names: Vec<(u32, WorkerName)> = (0..).zip(names).collect();
    let failed = match &ended.state {
        InstanceState::Failed { failure } => failure.worker.as_ref(),
        _ => None,
    };
    let found = match wanted {
        Some(wanted) => names.iter().find(|(_, name)| name.to_string() == wanted),
        None => names.iter().find(|(_, name)| Some(name) == failed).or(names.first()),
    };
    found.cloned().ok_or_else(|| {
        let all: Vec<String> = names.iter().map(|(_, name)| name.to_string()).take(8).collect();
        ApiError::field("/worker", format!("must be a worker of the attempt, such as {}", all.join(", ")))
    })
}
