//! Forecasts a run before it is started: simulates its tasks on a copy of the scheduler state.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::{Apart, Desk, Prospect, Scaler, Spec, Tried, Whose, sentence};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::history::{History, RunTime};
use cubeloom_domain::pipeline::Spread;
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::sizing::SizingHistory;
use cubeloom_domain::waiting::{Explanation, WaitRule};
use cubeloom_domain::{Code, Problem, TaskIx};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::kept::{Keeps, Kept};
use crate::api::forecast::view::{ForecastView, Outlook, TaskForecastView, rule};
use crate::api::tasks::why::{Reader, WhyView};
use crate::auth::{Caller, projects_of};
use crate::clusters;
use crate::error::{ApiError, ApiResult};
use crate::plan::{self, Order};
use crate::sized::{is_sized, recommended};
use crate::state::Web;
use crate::time::Time;

/// Time limit of a simulation.
const PLAYED: Duration = Duration::from_secs(1);
/// One simulation at a time: editors request a forecast after each change.
static TURN: Semaphore = Semaphore::const_new(1);

/// Code for a task that its cluster would refuse for the run's user.
const NOT_TAKEN: &str = "not_taken";

/// Run number of the simulated tasks. It is greater than any run id, so that they queue behind all existing
/// tasks.
const RUN: u128 = u128::MAX;

/// Forecasts a run of a document.
///
/// # Errors
/// All problems of the document and its parameters, or a server error.
pub(crate) async fn forecast(
    web: &Web,
    caller: &Caller,
    text: String,
    order: Order,
) -> ApiResult<ForecastView> {
    let (plan, misfits) = plan::foresee(web.planner(), text, order).await?;
    let history = web.store().run_times(&plan.context.project, &plan.pipeline).await?;
    let seen = projects_of(web, caller).await?;
    let person = &caller.user.name;
    let foreseen = Foreseen { plan: &plan, history: &history, person, misfits: by_task(&misfits) };
    let desk = super::desk(web, &plan.cluster).await;
    let prospects = foreseen.prospects(web, desk, PLAYED).await?;
    let kept = Kept::of(web, &plan).await?;
    let tasks = (0u32..).map(TaskIx).zip(&plan.tasks).map(|(ix, task)| {
        let view = Shown { plan: &plan, person, seen: seen.as_deref() };
        let mut shown = view.task(task, prospects.get(&ix), kept.task(ix));
        if let Some(problem) = foreseen.misfits.get(&ix.index()) {
            (shown.outlook, shown.message) = (Outlook::Never, Some(problem.message.clone()));
            shown.rule = Some(match problem.code {
                Code::NeverFits => rule(WaitRule::NeverFits),
                _ => NOT_TAKEN.to_owned(),
            });
        }
        shown.run_time = foreseen.run_time(task).map(Into::into);
        shown
    });
    Ok(ForecastView {
        at: Time(web.now()),
        cluster: Some(plan.cluster.clone()),
        tasks: tasks.collect(),
        problems: Vec::new(),
    })
}

/// Problems of tasks that can never start, by task position.
pub(super) fn by_task(misfits: &[Problem]) -> BTreeMap<usize, &Problem> {
    let position = |problem: &Problem| problem.path.strip_prefix("/tasks/")?.split('/').next()?.parse().ok();
    misfits.iter().filter_map(|problem| Some((position(problem)?, problem))).collect()
}

/// A planned run that is not started, with the data for its forecast.
pub(super) struct Foreseen<'f> {
    pub(super) plan: &'f RunPlan,
    pub(super) history: &'f History,
    /// The user that the run would belong to.
    pub(super) person: &'f str,
    /// Problems of tasks that can never start, by position.
    pub(super) misfits: BTreeMap<usize, &'f Problem>,
}

impl Foreseen<'_> {
    /// Owner of its jobs.
    pub(super) fn whose(&self) -> Whose<'_> {
        Whose { project: &self.plan.context.project, person: self.person }
    }

    /// Target of a task.
    pub(super) fn pool(&self, task: &PlannedTask) -> Pool {
        Pool { cluster: self.plan.cluster.clone(), node_group: task.placement.node_group.clone() }
    }

    /// Expected run time of an attempt.
    pub(super) fn run_time(&self, task: &PlannedTask) -> Option<RunTime> {
        self.history.of(&task.name, &self.plan.template_of(task).name, &self.pool(task))
    }

    /// Simulates every task that is a job, within `time`. Empty without a scheduler state.
    pub(super) async fn prospects(
        &self,
        web: &Web,
        desk: Option<Arc<Desk>>,
        time: Duration,
    ) -> ApiResult<BTreeMap<TaskIx, Prospect>> {
        let (Some(desk), Some(executor)) = (desk, web.clusters().get(&self.plan.cluster)) else {
            return Ok(BTreeMap::new());
        };
        let facts = clusters::facts(&executor).await?;
        // The nodes of an unreachable or autoscaled cluster are unknown.
        if facts.nodes.is_empty() {
            return Ok(BTreeMap::new());
        }
        let sizing = web.store().sizing(&self.plan.context.project, &self.plan.pipeline).await?;
        let sized = Sized { history: &sizing, desk: &desk };
        let jobs = self.jobs(&facts, Scaler::of(executor.as_ref(), &facts), &sized);
        let now = web.now();
        let _turn = TURN.acquire().await.map_err(ApiError::internal)?;
        let work = move || {
            let until = Instant::now() + time;
            let (tasks, tried): (Vec<TaskIx>, Vec<Tried>) = jobs.into_iter().unzip();
            let found = desk.what_if(tried, now, 1, &mut || Instant::now() < until);
            tasks.into_iter().zip(found).collect()
        };
        tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
    }

    /// Its tasks as jobs for the simulation.
    fn jobs(&self, facts: &Facts, scaler: Scaler, sized: &Sized<'_>) -> Vec<(TaskIx, Tried)> {
        let plan = self.plan;
        let excludes = facts.nodes.len() == 1
            && plan.tasks.iter().any(|task| task.placement.spread == Some(Spread::Required));
        let job = |(ix, task): (TaskIx, &PlannedTask)| {
            let required = task.placement.spread == Some(Spread::Required);
            let gets = sized.task(plan, ix, facts);
            let spec = Spec {
                key: format!("{}.{}.0.1", plan.context.id, task.name),
                project: plan.context.project.clone(),
                person: self.person.to_owned(),
                run: RUN,
                apart: excludes.then_some(Apart { required }),
                length: self.run_time(task).map(Into::into),
                ..Spec::planned(gets.as_ref().unwrap_or(task), scaler)
            };
            // Tasks that fit no node take nothing from the others.
            let is_first = task.needs.is_empty() && !self.misfits.contains_key(&ix.index());
            (ix, Tried { spec, is_first })
        };
        (0u32..).map(TaskIx).zip(&plan.tasks).filter(|(_, task)| is_job(task)).map(job).collect()
    }
}

/// Data for right-sizing.
struct Sized<'s> {
    history: &'s SizingHistory,
    desk: &'s Desk,
}

impl Sized<'_> {
    /// A task with the resources of its first attempt. `None` without automatic right-sizing.
    fn task(&self, plan: &RunPlan, ix: TaskIx, facts: &Facts) -> Option<PlannedTask> {
        let task = plan.task(ix);
        let bound = || self.desk.most(&plan.context.project, task.placement.node_group.as_deref());
        is_sized(self.history, task)
            .then(|| task.sized(&recommended(plan, ix, self.history, &facts.nodes, Some(bound()))))
    }
}

/// Whether a task uses resources of its cluster. Approvals and sub-runs do not.
pub(super) fn is_job(task: &PlannedTask) -> bool {
    !task.roles.is_empty() && !task.calls
}

/// The reader of a forecast.
struct Shown<'s> {
    plan: &'s RunPlan,
    person: &'s str,
    /// Projects that the reader can see. `None` means all.
    seen: Option<&'s [String]>,
}

impl Shown<'_> {
    fn task(
        &self,
        task: &PlannedTask,
        prospect: Option<&Prospect>,
        keeps: Option<&Keeps>,
    ) -> TaskForecastView {
        let blank = |outlook| TaskForecastView {
            task: task.name.clone(),
            outlook,
            message: None,
            rule: None,
            pool: None,
            shortages: Vec::new(),
            holders: Vec::new(),
            more_holders: 0,
            hidden_holders: 0,
            ahead: None,
            start: None,
            run_time: None,
        };
        if let Some(keeps) = keeps.filter(|_| !matches!(prospect, Some(Prospect::Never(_)))) {
            let Keeps { outlook, rule, message } = keeps.clone();
            return TaskForecastView { message: Some(message), rule: Some(rule), ..blank(outlook) };
        }
        match prospect {
            None if is_job(task) => blank(Outlook::Unknown),
            None if task.needs.is_empty() => blank(Outlook::Starts),
            None | Some(Prospect::Later) => blank(Outlook::Later),
            Some(Prospect::Starts) => blank(Outlook::Starts),
            Some(Prospect::Never(why)) => self.explained(blank(Outlook::Never), why),
            Some(Prospect::Waits { why, start, preempts }) => {
                let explained = self.explained(blank(Outlook::Waits), why);
                let message = preempting(*preempts).filter(|_| why.rule == WaitRule::Leaving);
                TaskForecastView {
                    ahead: Some(why.ahead),
                    start: start.map(Into::into),
                    message: message.or(explained.message),
                    ..explained
                }
            }
        }
    }

    fn explained(&self, blank: TaskForecastView, why: &Explanation) -> TaskForecastView {
        let context = &self.plan.context;
        let whose = Whose { project: &context.project, person: self.person };
        let view = WhyView::new(why, Reader { seen: self.seen, run: &context.id });
        TaskForecastView {
            message: Some(sentence(why, whose)),
            rule: Some(view.rule),
            pool: Some(view.pool),
            shortages: view.shortages,
            holders: view.holders,
            more_holders: view.more_holders,
            hidden_holders: view.hidden_holders,
            ..blank
        }
    }
}

/// Message about preempted jobs. `None` without any.
fn preempting(jobs: usize) -> Option<String> {
    match jobs {
        0 => None,
        1 => Some("preempts 1 job, and starts when it has ended".into()),
        jobs => Some(format!("preempts {jobs} jobs, and starts when they have ended")),
    }
}
