//! Compares the target clusters that a run can use: start, duration and cost. Runs never move automatically:
//! the user compares and chooses.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::{Desk, Prospect, Step, Whose, makespan, sentence};
use cubeloom_domain::accounting::{Cost, Day, Figures, Money, PriceList};
use cubeloom_domain::history::{History, RunTime};
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::waiting::StartEstimate;
use cubeloom_domain::{Code, Problem, TaskIx, Timestamp};

use super::before::{Foreseen, by_task, is_job};
use super::kept::{Kept, instances};
use crate::api::forecast::places::{ComparedPlaceView, ComparedPlacesView, TakesView};
use crate::api::forecast::view::Outlook;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemView};
use crate::plan::{self, Order};
use crate::runs::wish::explained;
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;

/// Maximum number of compared targets.
const COMPARED: usize = 32;
/// Time limit of the simulations of all targets, and the minimum for each.
const PLAYED: Duration = Duration::from_secs(2);
const PLAYED_EACH: Duration = Duration::from_millis(100);

/// Compares all targets that a run of a document can use.
///
/// # Errors
/// Syntax problems of the document, and problems that it has with every target. Or a server error.
pub(crate) async fn compare(
    web: &Web,
    caller: &Caller,
    lang: Lang,
    text: String,
    order: Order,
) -> ApiResult<ComparedPlacesView> {
    let (usual, mut pools) = plan::choices(web.planner(), &order.project, text.clone()).await?;
    pools.sort_by_key(|pool| *pool != usual);
    let left_out = pools.len().saturating_sub(COMPARED);
    pools.truncate(COMPARED);
    let mut comparing = Comparing::new(web, caller, lang, pools.len()).await?;
    let (mut places, mut refusals) = (Vec::new(), Vec::new());
    for pool in pools {
        let order = Order { place: Some(pool.clone()), ..order.clone() };
        let mut view = comparing.blank(&pool);
        view.is_usual = pool == usual;
        match explained(web, caller, plan::foresee(web.planner(), text.clone(), order).await).await {
            Ok((plan, misfits)) => comparing.fill(&mut view, &plan, &misfits).await?,
            Err(error) if !error.problems().is_empty() => {
                view.problems = comparing.told(error.problems());
                refusals.push(error);
            }
            Err(error) => return Err(error),
        }
        places.push(view);
    }
    // Problems with every target are problems of the document: report them once.
    let same = refusals.windows(2).all(|two| two[0].problems() == two[1].problems());
    let everywhere = refusals.len() == places.len() && same;
    if let Some(error) = refusals.into_iter().next().filter(|_| everywhere) {
        return Err(error);
    }
    let currency = web.settings().currency.clone();
    Ok(ComparedPlacesView { at: Time(comparing.now), places, left_out, currency, problems: Vec::new() })
}

/// Data for the comparison.
struct Comparing<'c> {
    web: &'c Web,
    caller: &'c Caller,
    lang: Lang,
    now: Timestamp,
    prices: PriceList,
    /// History of the pipeline, if its name is known.
    history: Option<History>,
    /// What blocks its first tasks regardless of the target.
    kept: Option<Kept>,
    /// Copies of the clusters' scheduler states, each requested once.
    desks: BTreeMap<String, Option<Arc<Desk>>>,
    /// Time limit of the simulation of one target.
    time: Duration,
}

impl<'c> Comparing<'c> {
    async fn new(web: &'c Web, caller: &'c Caller, lang: Lang, places: usize) -> ApiResult<Self> {
        let prices = web.store().prices().await?.into_iter().collect();
        let time = PLAYED / u32::try_from(places.max(1)).unwrap_or(u32::MAX);
        let (now, time) = (web.now(), time.max(PLAYED_EACH));
        Ok(Self { web, caller, lang, now, prices, history: None, kept: None, desks: BTreeMap::new(), time })
    }

    fn blank(&self, pool: &Pool) -> ComparedPlaceView {
        ComparedPlaceView {
            place: pool.to_string(),
            cluster: pool.cluster.clone(),
            node_group: pool.node_group.clone(),
            is_usual: false,
            outlook: Outlook::Never,
            message: None,
            problems: Vec::new(),
            first_start: None,
            start: None,
            takes: None,
            done: None,
            unknown_tasks: Vec::new(),
            elsewhere: Vec::new(),
            cost: None,
        }
    }

    fn told(&self, problems: &[Problem]) -> Vec<ProblemView> {
        problems.iter().map(|one| ProblemView::told(one, self.lang)).collect()
    }

    async fn desk(&mut self, cluster: &str) -> Option<Arc<Desk>> {
        if let Some(known) = self.desks.get(cluster) {
            return known.clone();
        }
        let found = super::desk(self.web, cluster).await;
        self.desks.insert(cluster.to_owned(), found.clone());
        found
    }

    /// Adds the forecast for a target to its view.
    async fn fill(
        &mut self,
        view: &mut ComparedPlaceView,
        plan: &RunPlan,
        misfits: &[Problem],
    ) -> ApiResult<()> {
        if self.history.is_none() {
            self.history = Some(self.web.store().run_times(&plan.context.project, &plan.pipeline).await?);
        }
        if self.kept.is_none() {
            self.kept = Some(Kept::of(self.web, plan).await?);
        }
        let desk = self.desk(&plan.cluster).await;
        let (Some(history), Some(kept)) = (&self.history, &self.kept) else { return Ok(()) };
        let person = &self.caller.user.name;
        let foreseen = Foreseen { plan, history, person, misfits: by_task(misfits) };
        let prospects = foreseen.prospects(self.web, desk, self.time).await?;
        let mut problems = misfits.to_vec();
        problems.extend(never(&prospects, misfits, foreseen.whose()));
        view.problems = self.told(&problems);
        if problems.is_empty() {
            let firsts = Firsts::of(&foreseen, &prospects, kept, self.now);
            (view.outlook, view.message) = (firsts.outlook, firsts.message);
            view.first_start = firsts.first.map(Into::into);
            view.start = firsts.all.map(Into::into);
        }
        let known = Known::of(&foreseen, &self.prices, Day::of(self.now));
        (view.unknown_tasks, view.elsewhere) = (known.unknown, known.elsewhere);
        view.cost = known.cost.map(|cost| cost.to_string());
        view.takes = known.takes;
        view.done = view.start.zip(view.takes).map(|(start, takes)| takes.after(start));
        Ok(())
    }
}

/// Problems of tasks that can never start according to the simulation. Omits those in `told`.
fn never(prospects: &BTreeMap<TaskIx, Prospect>, told: &[Problem], whose: Whose<'_>) -> Vec<Problem> {
    let told = by_task(told);
    let found = prospects.iter().filter(|(ix, _)| !told.contains_key(&ix.index()));
    let problem = |(ix, prospect): (&TaskIx, &Prospect)| match prospect {
        Prospect::Never(why) => {
            let path = format!("/tasks/{}/resources", ix.index());
            Some(Problem::error(Code::NeverFits, path, sentence(why, whose)))
        }
        _ => None,
    };
    found.filter_map(problem).collect()
}

/// Forecast of the tasks without dependencies.
struct Firsts {
    outlook: Outlook,
    /// Why one of them is pending.
    message: Option<String>,
    /// Estimated start of the first one, if known.
    first: Option<StartEstimate>,
    /// When all of them have started.
    all: Option<StartEstimate>,
}

impl Firsts {
    fn of(
        foreseen: &Foreseen<'_>,
        prospects: &BTreeMap<TaskIx, Prospect>,
        kept: &Kept,
        now: Timestamp,
    ) -> Self {
        let at_once = StartEstimate { p50: now, p90: now };
        let mut found = Self { outlook: Outlook::Starts, message: None, first: None, all: Some(at_once) };
        let firsts = (0u32..).map(TaskIx).zip(&foreseen.plan.tasks).filter(|(_, task)| task.needs.is_empty());
        for (ix, task) in firsts {
            let (outlook, start) = match (kept.task(ix), prospects.get(&ix)) {
                (Some(keeps), _) => {
                    found.message.get_or_insert_with(|| keeps.message.clone());
                    (keeps.outlook, None)
                }
                (None, Some(Prospect::Waits { why, start, .. })) => {
                    found.message.get_or_insert_with(|| sentence(why, foreseen.whose()));
                    (Outlook::Waits, *start)
                }
                (None, None) if is_job(task) => (Outlook::Unknown, None),
                _ => (Outlook::Starts, Some(at_once)),
            };
            found.outlook = found.outlook.max(outlook);
            let earlier = |one: StartEstimate| found.first.map_or(one, |other| of_both(one, other, Ord::min));
            found.first = start.map(earlier).or(found.first);
            found.all = found.all.zip(start).map(|(one, other)| of_both(one, other, Ord::max));
        }
        found
    }
}

fn of_both(
    one: StartEstimate,
    other: StartEstimate,
    pick: fn(Timestamp, Timestamp) -> Timestamp,
) -> StartEstimate {
    StartEstimate { p50: pick(one.p50, other.p50), p90: pick(one.p90, other.p90) }
}

/// Known duration and cost of a run on its planned target.
struct Known {
    takes: Option<TakesView>,
    cost: Option<Money>,
    unknown: Vec<String>,
    elsewhere: Vec<String>,
}

impl Known {
    fn of(foreseen: &Foreseen<'_>, prices: &PriceList, today: Day) -> Self {
        let (mut unknown, mut elsewhere, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        let (mut cost, mut is_priced) = (Cost::default(), false);
        for task in &foreseen.plan.tasks {
            let known = foreseen.run_time(task).filter(|_| is_job(task)).zip(instances(task));
            let Some((time, count)) = known else {
                unknown.push(task.name.clone());
                continue;
            };
            let pool = foreseen.pool(task);
            let template = &foreseen.plan.template_of(task).name;
            if foreseen.history.only_in(&task.name, template, &pool).is_none() {
                elsewhere.push(task.name.clone());
            }
            let group = pool.node_group.as_deref().unwrap_or_default();
            if let Some((_, rates)) = prices.since(&pool.cluster, group, today) {
                is_priced = true;
                let all = time.median.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
                cost = cost.plus(rates.cost_of(&Figures::planned(foreseen.plan, task, all)));
            }
            steps.push(step(task, time, count));
        }
        let at_once = foreseen.plan.parallelism.map_or(usize::MAX, |most| most as usize);
        let takes = unknown.is_empty().then(|| TakesView::from(makespan(&steps, at_once, 1)));
        Self { takes, cost: is_priced.then(|| cost.total()), unknown, elsewhere }
    }
}

fn step(task: &PlannedTask, time: RunTime, instances: usize) -> Step {
    let at_once = task.for_each.as_ref().and_then(|each| each.parallelism);
    let at_once = at_once.map_or(instances, |most| most as usize);
    Step {
        needs: task.needs.iter().map(|need| need.index()).collect(),
        length: time.into(),
        instances,
        at_once,
        priority: task.priority,
    }
}
