//! What blocks the first tasks of a run regardless of capacity: a spent budget, other runs of its pipeline,
//! or other tasks of the run.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use cubeloom_admission::in_line;
use cubeloom_domain::accounting::budget::Level;
use cubeloom_domain::plan::{ForEachItems, PlannedTask, RunPlan};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::waiting::{Explanation, WaitRule};
use cubeloom_domain::{RunId, TaskIx};
use cubeloom_store::StoreError;

use super::before::is_job;
use crate::api::forecast::view::{Outlook, rule};
use crate::error::ApiResult;
use crate::runs::queued;
use crate::state::Web;

/// Why a task would not start.
#[derive(Clone, Debug)]
pub(super) struct Keeps {
    /// Whether the task is pending or never starts.
    pub(super) outlook: Outlook,
    pub(super) rule: String,
    pub(super) message: String,
}

/// First tasks of a run that are blocked.
pub(super) struct Kept(BTreeMap<TaskIx, Keeps>);

impl Kept {
    /// Of a run that would be started now.
    pub(super) async fn of(web: &Web, plan: &RunPlan) -> ApiResult<Self> {
        let firsts = (0u32..).map(TaskIx).zip(&plan.tasks).filter(|(_, task)| task.needs.is_empty());
        Ok(Self(match whole_run(web, plan).await? {
            Some(keeps) => firsts.map(|(ix, _)| (ix, keeps.clone())).collect(),
            None => beyond(plan).collect(),
        }))
    }

    /// What blocks a task, if anything.
    pub(super) fn task(&self, ix: TaskIx) -> Option<&Keeps> {
        self.0.get(&ix)
    }
}

/// What blocks the whole run.
async fn whole_run(web: &Web, plan: &RunPlan) -> ApiResult<Option<Keeps>> {
    let project = &plan.context.project;
    let standing = web.store().budget_standing(project, web.now()).await?;
    if let Some(spent) = standing.filter(|standing| standing.level() == Level::Stopped) {
        let error = StoreError::BudgetSpent {
            project: project.clone(),
            month: spent.month,
            spent: spent.spent,
            amount: spent.amount,
        };
        let rule = "budget".to_owned();
        return Ok(Some(Keeps { outlook: Outlook::Never, rule, message: error.to_string() }));
    }
    if plan.max_active_runs.is_none() {
        return Ok(None);
    }
    let newest = RunId::new(web.now(), u128::MAX);
    let ahead = web.store().runs_ahead(project, &plan.pipeline, &newest, 0).await?;
    let message = queued::kept(plan.max_active_runs, &ahead);
    Ok(message.map(|message| Keeps { outlook: Outlook::Waits, rule: queued::RULE.to_owned(), message }))
}

/// First tasks beyond the run's parallelism, by priority and then in the document's order.
fn beyond(plan: &RunPlan) -> impl Iterator<Item = (TaskIx, Keeps)> {
    let is_first = |(_, task): &(TaskIx, &PlannedTask)| task.needs.is_empty() && is_job(task);
    let mut firsts: Vec<_> = (0u32..).map(TaskIx).zip(&plan.tasks).filter(is_first).collect();
    firsts.sort_by_key(|(_, task)| Reverse(task.priority));
    let mut before = 0usize;
    let kept = move |(ix, task): (TaskIx, &PlannedTask)| {
        let limit = plan.parallelism?;
        let has_place = before < limit as usize;
        before = before.saturating_add(at_once(task));
        let pool = Pool { cluster: plan.cluster.clone(), node_group: task.placement.node_group.clone() };
        let why = Explanation::of_parallelism(WaitRule::PipelineParallelism, pool, limit);
        let keeps = Keeps { outlook: Outlook::Waits, rule: rule(why.rule), message: in_line(&why) };
        (!has_place).then_some((ix, keeps))
    };
    firsts.into_iter().filter_map(kept)
}

/// Maximum concurrent instances of a task, if nothing else blocks them.
fn at_once(task: &PlannedTask) -> usize {
    let most =
        task.for_each.as_ref().and_then(|each| each.parallelism).map_or(usize::MAX, |most| most as usize);
    instances(task).unwrap_or(1).min(most)
}

/// Number of a task's instances. `None` if upstream tasks decide it.
pub(super) fn instances(task: &PlannedTask) -> Option<usize> {
    match task.for_each.as_ref().map(|each| &each.items) {
        None => Some(1),
        Some(ForEachItems::Known(items)) => Some(items.len()),
        Some(ForEachItems::Search(search)) => Some(search.trials as usize),
        Some(ForEachItems::Expression(_)) => None,
    }
}
