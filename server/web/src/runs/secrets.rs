//! Secrets of a run on which another user acts. The caller's own secrets and the project's apply, never those
//! of the user who started the run.

use std::collections::BTreeSet;

use cubeloom_domain::belongings::Owner;
use cubeloom_domain::graph::Graph;
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::record::{RunRecord, Wish};
use cubeloom_domain::{Code, Problem};

use super::counts::by_task;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::plan::facts;
use crate::state::Web;

/// Refuses a command if its tasks need a secret that the caller does not have here.
///
/// # Errors
/// The first task that lacks a secret, and the secret. Or a server error.
pub(super) async fn demand(
    web: &Web,
    caller: &Caller,
    run: &RunRecord,
    plan: &RunPlan,
    wish: &Wish,
) -> ApiResult<()> {
    let again = run_again(web, run, plan, wish).await?;
    let tasks = plan.tasks.iter().zip(&again).filter(|(_, again)| **again).map(|(task, _)| task);
    demand_of(web, caller, run, plan, tasks).await
}

/// Refuses to run these tasks if one needs a secret that the caller does not have here.
///
/// # Errors
/// The first task that lacks a secret, and the secret. Or a server error.
pub(crate) async fn demand_of(
    web: &Web,
    caller: &Caller,
    run: &RunRecord,
    plan: &RunPlan,
    tasks: impl Iterator<Item = &PlannedTask>,
) -> ApiResult<()> {
    let with_secrets: Vec<&PlannedTask> = tasks.filter(|task| !task.secrets.is_empty()).collect();
    if with_secrets.is_empty() {
        return Ok(());
    }
    let known = facts(web.planner(), &run.project, &caller.acting(), Some(&plan.cluster)).await?.secrets;
    let own = withheld(web, caller).await?;
    let lacks = |task: &PlannedTask| {
        let name = task.secrets.iter().map(|secret| &secret.name).find(|name| !known.contains(name));
        name.map(|name| match own.contains(name) {
            true => ApiError::conflict(not_for_a_token(name)),
            false => refused(&task.name, name, &run.user),
        })
    };
    with_secrets.into_iter().find_map(lacks).map_or(Ok(()), Err)
}

/// The user's own secrets, which a token for one project cannot use.
async fn withheld(web: &Web, caller: &Caller) -> ApiResult<BTreeSet<String>> {
    if caller.via.bound_to().is_none() {
        return Ok(BTreeSet::new());
    }
    let own = web.store().secrets(&Owner::User(caller.user.id.clone())).await?;
    Ok(own.into_iter().map(|secret| secret.name).collect())
}

fn not_for_a_token(name: &str) -> String {
    format!(
        "the secret `{name}` is personal, and a token for one project may not use it: add it to the project, or use a token for all projects"
    )
}

/// Adds to an error about a missing secret whether the caller's token cannot use it.
///
/// # Errors
/// The given error, with the explanation. Or a server error.
pub(crate) async fn explained<T>(web: &Web, caller: &Caller, result: ApiResult<T>) -> ApiResult<T> {
    let Err(error) = result else { return result };
    if caller.via.bound_to().is_none() || error.problems().iter().all(|one| one.code != Code::UnknownSecret) {
        return Err(error);
    }
    let own = withheld(web, caller).await?;
    let explain = |problem: &Problem| {
        let names = |name: &&String| problem.message.contains(&format!("no secret `{name}`"));
        let name = own.iter().find(names).filter(|_| problem.code == Code::UnknownSecret);
        name.map_or_else(
            || problem.clone(),
            |name| Problem { message: not_for_a_token(name), ..problem.clone() },
        )
    };
    Err(ApiError::invalid(error.problems().iter().map(explain).collect()))
}

fn refused(task: &str, secret: &str, starter: &str) -> ApiError {
    ApiError::conflict(format!(
        "the task `{task}` needs the secret `{secret}`, which neither you nor the project has: add it, or ask {starter}, who started the run"
    ))
}

/// These tasks and their descendants.
fn after(plan: &RunPlan, roots: &[u32]) -> Vec<bool> {
    let edges: Vec<(u32, u32)> = (0u32..)
        .zip(&plan.tasks)
        .flat_map(|(ix, task)| task.needs.iter().chain(&task.reads).map(move |need| (need.0, ix)))
        .collect();
    Graph::new(plan.tasks.len(), &edges).with_descendants(roots)
}

/// Whether each task may run again.
async fn run_again(web: &Web, run: &RunRecord, plan: &RunPlan, wish: &Wish) -> ApiResult<Vec<bool>> {
    match wish {
        Wish::Cancel | Wish::Decide { .. } => Ok(vec![false; plan.tasks.len()]),
        Wish::Rerun { from } => {
            let roots: Vec<u32> = from.iter().filter_map(|name| plan.find(name)).map(|ix| ix.0).collect();
            Ok(after(plan, &roots))
        }
        Wish::Mark { task, .. } => {
            let marked = plan.find(task).map(|ix| ix.0);
            let mut again = after(plan, marked.as_slice());
            marked.iter().for_each(|ix| again[*ix as usize] = false);
            Ok(again)
        }
        // Only tasks that succeeded completely are kept for sure. Only the engine knows what else would run.
        Wish::Resume => {
            let mut again = vec![true; plan.tasks.len()];
            for (task, states) in by_task(&web.store().task_counts(&run.id).await?) {
                if let Some(flag) = again.get_mut(task as usize) {
                    *flag = states.keys().any(|state| *state != "succeeded");
                }
            }
            Ok(again)
        }
    }
}
