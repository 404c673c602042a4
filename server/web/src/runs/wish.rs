//! User commands for existing runs: cancel, resume, rerun, decide and mark.

use std::time::Duration;

use cubeloom_domain::approval::{Decision, Question};
use cubeloom_domain::identity::Role;
use cubeloom_domain::mark::Mark;
use cubeloom_domain::record::{RunRecord, Wish};
use cubeloom_domain::schedule::Cause;
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, TaskIx};
use serde_json::json;

pub(crate) use super::secrets::explained;
use super::start::{self, Source, Started, Wanted};
use super::{reader, secrets};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::part::WantedPart;
use crate::state::Web;

/// Poll interval and number of polls for the engine to apply a command.
const LOOK: Duration = Duration::from_millis(20);
const LOOKS: u32 = 100;

/// Cancels a run. [`settle`] waits for it. No effect on a run that is being cancelled.
pub(crate) async fn cancel(web: &Web, caller: &Caller, run: &RunRecord) -> ApiResult<()> {
    if run.state.is_final() {
        let (id, state) = (&run.id, run.state.as_str());
        return Err(ApiError::conflict(format!("run {id} has ended already: it is {state}")));
    }
    if run.state == RunState::Cancelling {
        return Ok(());
    }
    add(web, caller, run, &Wish::Cancel, "run.cancel").await
}

/// Runs failed and cancelled tasks, and those not reached because of them.
pub(crate) async fn resume(web: &Web, caller: &Caller, run: &RunRecord) -> ApiResult<()> {
    demand_end(run)?;
    if run.state == RunState::Succeeded {
        let message = format!("run {} has succeeded: there is nothing left to run", run.id);
        return Err(ApiError::conflict(message));
    }
    let plan = reader::plan(web, &run.id).await?;
    secrets::demand(web, caller, run, &plan, &Wish::Resume).await?;
    add(web, caller, run, &Wish::Resume, "run.resume").await?;
    settle(web, std::slice::from_ref(&run.id)).await
}

/// Reruns these tasks and everything downstream.
pub(crate) async fn rerun(web: &Web, caller: &Caller, run: &RunRecord, from: Vec<String>) -> ApiResult<()> {
    demand_end(run)?;
    let plan = reader::plan(web, &run.id).await?;
    if from.is_empty() {
        return Err(ApiError::field("/from", "name at least one task"));
    }
    if let Some((at, unknown)) = from.iter().enumerate().find(|(_, name)| plan.find(name).is_none()) {
        return Err(ApiError::field(
            &format!("/from/{at}"),
            format!("run {} has no task `{unknown}`", run.id),
        ));
    }
    let wish = Wish::Rerun { from };
    secrets::demand(web, caller, run, &plan, &wish).await?;
    add(web, caller, run, &wish, "run.rerun").await?;
    settle(web, std::slice::from_ref(&run.id)).await
}

/// Starts a new run of the same version or the same part of it. It keeps the parameters and a chosen target
/// cluster.
pub(crate) async fn again(web: &Web, caller: &Caller, run: &RunRecord) -> ApiResult<Started> {
    if run.version.is_none() {
        let message =
            format!("run {} was started from a document that is not stored: submit it again", run.id);
        return Err(ApiError::conflict(message));
    }
    let plan = reader::plan(web, &run.id).await?;
    let part = plan.part.as_ref();
    let wanted = Wanted {
        project: run.project.clone(),
        user: caller.user.name.clone(),
        acting: caller.acting(),
        source: Source::Stored { pipeline: run.pipeline.clone(), version: run.version },
        parameters: run.parameters.clone(),
        place: plan.place.clone(),
        part: part.map(|part| WantedPart { choice: Some(part.choice.clone()), of: part.of.clone() }),
        origin: None,
        // Repeat the run for the same logical date.
        cause: Cause { date: run.cause.date, ..Cause::default() },
    };
    let started = start::start(web, wanted, audit::entry(web, caller, "run.start", "").clone()).await;
    explained(web, caller, started).await
}

/// Applies a decision for an instance that waits for approval.
pub(crate) async fn decide(
    web: &Web,
    caller: &Caller,
    run: &RunRecord,
    (ix, task, instance): (TaskIx, &str, u32),
    decision: Decision,
) -> ApiResult<()> {
    let asked = web.store().instance(&run.id, ix, instance).await?;
    let asked = asked.filter(|_| run.state == RunState::Running);
    let Some(question) = asked.as_ref().and_then(|record| record.state.question()) else {
        return Err(ApiError::conflict(format!("the task `{task}` does not wait for a decision")));
    };
    may_decide(caller, question).map_err(ApiError::forbidden)?;
    let wish = Wish::Decide { task: task.into(), instance, decision };
    add(web, caller, run, &wish, "task.decide").await?;
    settle(web, std::slice::from_ref(&run.id)).await
}

/// Overrides the result of an instance.
pub(crate) async fn mark(
    web: &Web,
    caller: &Caller,
    run: &RunRecord,
    (ix, task, instance, is_expanded): (TaskIx, &str, u32, bool),
    mark: Mark,
) -> ApiResult<()> {
    if run.state == RunState::Cancelling {
        let message = format!("run {} is being cancelled: wait for its end", run.id);
        return Err(ApiError::conflict(message));
    }
    let known = web.store().instance(&run.id, ix, instance).await?;
    match &known {
        // Tasks that have not started are not stored.
        None if run.state.is_final() || is_expanded => {
            let message =
                format!("instance {instance} of the task `{task}` has not started, and cannot be marked yet");
            return Err(ApiError::conflict(message));
        }
        None if instance > 0 => return Err(ApiError::not_found("instance", instance.to_string())),
        _ => {}
    }
    let wish = Wish::Mark { task: task.into(), instance, mark };
    if run.state.is_final() {
        let plan = reader::plan(web, &run.id).await?;
        secrets::demand(web, caller, run, &plan, &wish).await?;
    }
    add(web, caller, run, &wish, "task.mark").await?;
    settle(web, std::slice::from_ref(&run.id)).await
}

/// Whether the caller may decide.
///
/// # Errors
/// The reason why not.
pub(crate) fn may_decide(caller: &Caller, question: &Question) -> Result<(), String> {
    let name = &caller.user.name;
    if question.barred.as_ref() == Some(name) {
        return Err("you started this run: another user has to decide".into());
    }
    let named = question.approvers.contains(name);
    if named || (question.approvers.is_empty() && caller.role >= Some(Role::Editor)) {
        return Ok(());
    }
    Err(match question.approvers.as_slice() {
        [] => "to decide, you need the role editor in the project".into(),
        names => format!("only these may decide: {}", names.join(", ")),
    })
}

/// Refuses an active run.
pub(super) fn demand_end(run: &RunRecord) -> ApiResult<()> {
    if run.state.is_final() {
        return Ok(());
    }
    let (id, state) = (&run.id, run.state.as_str());
    Err(ApiError::conflict(format!("run {id} is {state}: wait for its end, or cancel it first")))
}

async fn add(web: &Web, caller: &Caller, run: &RunRecord, wish: &Wish, action: &str) -> ApiResult<()> {
    let entry = audit::entry(web, caller, action, run.id.as_str()).project(&run.project);
    let entry = match wish {
        Wish::Rerun { from } => entry.after(json!({"from": from})),
        Wish::Decide { task, instance, decision } => {
            entry.after(json!({"task": task, "instance": instance, "decision": decision}))
        }
        Wish::Mark { task, instance, mark } => {
            entry.after(json!({"task": task, "instance": instance, "mark": mark}))
        }
        Wish::Cancel | Wish::Resume => entry,
    };
    web.store().add_wish(&run.id, wish, &caller.acting(), web.now(), Some(&entry)).await?;
    web.wake();
    Ok(())
}

/// Waits briefly for the engine to apply the commands, so that the next read shows their effect. A busy
/// server, or another one that leads the run, may take longer.
pub(crate) async fn settle(web: &Web, runs: &[RunId]) -> ApiResult<()> {
    for _ in 0..LOOKS {
        if web.store().wishes(runs).await?.is_empty() {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}
