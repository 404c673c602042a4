//! What would become of a run before anybody starts it: its tasks are put on a copy of the desk.

use std::collections::BTreeMap;
use std::time::Duration;

use cubeloom_admission::{Apart, Prospect, Spec, Tried, sentence};
use cubeloom_domain::history::History;
use cubeloom_domain::pipeline::Spread;
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::waiting::Explanation;
use cubeloom_domain::{Problem, TaskIx};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::api::forecast::view::{ForecastView, HolderView, Outlook, RunTimeView, TaskForecastView, rule};
use crate::auth::{Caller, projects_of};
use crate::clusters;
use crate::error::{ApiError, ApiResult};
use crate::plan::{self, Order};
use crate::state::Web;
use crate::time::Time;

/// How long the queue is played.
const PLAYED: Duration = Duration::from_secs(1);
/// One queue is played at a time: editors ask for this after each change.
static TURN: Semaphore = Semaphore::const_new(1);

/// The run number of tasks that are tried: no slot of a run in memory is as large, and those of other servers are larger.
const RUN: u64 = (1 << 63) - 1;

/// What would become of a run of a document.
///
/// # Errors
/// Every mistake in the document and its parameters, or what the server lacks.
pub(crate) async fn forecast(
    web: &Web,
    caller: &Caller,
    text: String,
    order: Order,
) -> ApiResult<ForecastView> {
    let (plan, misfits) = plan::foresee(web.planner(), text, order).await?;
    let now = web.now();
    let history = web.store().run_times(&plan.context.project, &plan.pipeline).await?;
    let seen = projects_of(web, caller).await?;
    let person = &caller.user.name;
    let misfits = by_task(&misfits);
    let prospects = prospects(web, &plan, &history, person, &misfits).await?;
    let tasks = (0u32..).map(TaskIx).zip(&plan.tasks).map(|(ix, task)| {
        let view = Shown { plan: &plan, person, seen: seen.as_deref() };
        let mut shown = view.task(task, prospects.get(&ix));
        if let Some(problem) = misfits.get(&ix.index()) {
            (shown.outlook, shown.message) = (Outlook::Never, Some(problem.message.clone()));
            shown.rule = Some(rule(cubeloom_domain::waiting::WaitRule::NeverFits));
        }
        shown.run_time = run_time(&history, &plan, task);
        shown
    });
    Ok(ForecastView {
        at: Time(now),
        cluster: Some(plan.cluster.clone()),
        tasks: tasks.collect(),
        problems: Vec::new(),
    })
}

/// The mistakes that say of a task that it can never fit, by the task's position.
fn by_task(misfits: &[Problem]) -> BTreeMap<usize, &Problem> {
    let position = |problem: &Problem| problem.path.strip_prefix("/tasks/")?.split('/').next()?.parse().ok();
    misfits.iter().filter_map(|problem| Some((position(problem)?, problem))).collect()
}

/// Where a task goes.
fn pool(plan: &RunPlan, task: &PlannedTask) -> Pool {
    Pool { cluster: plan.cluster.clone(), node_group: task.placement.node_group.clone() }
}

fn run_time(history: &History, plan: &RunPlan, task: &PlannedTask) -> Option<RunTimeView> {
    history.of(&task.name, &plan.template_of(task).name, &pool(plan, task)).map(Into::into)
}

/// What the desk says of each task that is a job of its own. Empty where there is no desk to ask.
async fn prospects(
    web: &Web,
    plan: &RunPlan,
    history: &History,
    person: &str,
    misfits: &BTreeMap<usize, &Problem>,
) -> ApiResult<BTreeMap<TaskIx, Prospect>> {
    let Some(desk) = super::desk(web, &plan.cluster).await else { return Ok(BTreeMap::new()) };
    let Some(executor) = web.clusters().get(&plan.cluster) else { return Ok(BTreeMap::new()) };
    let facts = clusters::facts(&executor).await?;
    let scales = facts.kubernetes.as_ref().is_some_and(|facts| facts.volcano.is_some());
    let excludes = facts.nodes.len() == 1
        && plan.tasks.iter().any(|task| task.placement.spread == Some(Spread::Required));
    let jobs: Vec<(TaskIx, Tried)> = (0u32..)
        .map(TaskIx)
        .zip(&plan.tasks)
        .filter(|(_, task)| is_job(task))
        .map(|(ix, task)| {
            let required = task.placement.spread == Some(Spread::Required);
            let spec = Spec {
                key: format!("{}.{}.0.1", plan.context.id, task.name),
                project: plan.context.project.clone(),
                person: person.to_owned(),
                run: RUN,
                apart: excludes.then_some(Apart { task: ix.0, required }),
                length: history
                    .of(&task.name, &plan.template_of(task).name, &pool(plan, task))
                    .map(Into::into),
                ..Spec::planned(task, scales)
            };
            // What fits on no node takes nothing from the others.
            let is_first = task.needs.is_empty() && !misfits.contains_key(&ix.index());
            (ix, Tried { spec, is_first })
        })
        .collect();
    let now = web.now();
    let _turn = TURN.acquire().await.map_err(ApiError::internal)?;
    let work = move || {
        let until = Instant::now() + PLAYED;
        let (tasks, tried): (Vec<TaskIx>, Vec<Tried>) = jobs.into_iter().unzip();
        let found = desk.what_if(tried, now, 1, &mut || Instant::now() < until);
        tasks.into_iter().zip(found).collect()
    };
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}

/// Whether a task holds something of its cluster: neither a question to a person, nor a run of another pipeline.
fn is_job(task: &PlannedTask) -> bool {
    !task.roles.is_empty() && !task.calls
}

/// For whom a forecast is made.
struct Shown<'s> {
    plan: &'s RunPlan,
    person: &'s str,
    /// The projects that they see; none for all.
    seen: Option<&'s [String]>,
}

impl Shown<'_> {
    fn task(&self, task: &PlannedTask, prospect: Option<&Prospect>) -> TaskForecastView {
        let blank = |outlook| TaskForecastView {
            task: task.name.clone(),
            outlook,
            message: None,
            rule: None,
            pool: None,
            shortages: Vec::new(),
            holders: Vec::new(),
            hidden_holders: 0,
            ahead: None,
            start: None,
            run_time: None,
        };
        match prospect {
            None if is_job(task) => blank(Outlook::Unknown),
            None if task.needs.is_empty() => blank(Outlook::Starts),
            None | Some(Prospect::Later) => blank(Outlook::Later),
            Some(Prospect::Starts) => blank(Outlook::Starts),
            Some(Prospect::Never(why)) => self.explained(blank(Outlook::Never), why),
            Some(Prospect::Waits { why, start }) => TaskForecastView {
                ahead: Some(why.ahead),
                start: start.map(Into::into),
                ..self.explained(blank(Outlook::Waits), why)
            },
        }
    }

    fn explained(&self, blank: TaskForecastView, why: &Explanation) -> TaskForecastView {
        let sees = |project: &String| self.seen.is_none_or(|seen| seen.contains(project));
        let (seen, hidden): (Vec<_>, Vec<_>) = why.holders.iter().partition(|holder| sees(&holder.project));
        TaskForecastView {
            message: Some(sentence(why, self.person)),
            rule: Some(rule(why.rule)),
            pool: Some(why.pool.to_string()),
            shortages: why.shortages.iter().map(Into::into).collect(),
            holders: seen
                .iter()
                .filter_map(|holder| HolderView::new(holder, &self.plan.context.id))
                .collect(),
            hidden_holders: hidden.len(),
            ..blank
        }
    }
}
