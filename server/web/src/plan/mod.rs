//! From a document to a plan: the compiler, told about this place and this project. Runs, previews, checks and hooks
//! all come through here, so that what is previewed is what runs.

mod facts;
mod place;
mod planner;

use std::collections::BTreeSet;

use cubeloom_compiler::{Document, PlanInputs, Planned, check_placed, parse_pipeline, preview};
use cubeloom_domain::clusters::{Clusters, LOCAL};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::identity::Places;
use cubeloom_domain::pipeline::Pipeline;
use cubeloom_domain::plan::{RunContext, RunPlan};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::{Code, JsonMap, Problem, RunId, Severity, Timestamp};
use tokio::sync::Semaphore;

use crate::auth::{Caller, secret};
use crate::clusters;
use crate::code;
use crate::error::{ApiError, ApiResult};
use crate::sub_runs;

pub(crate) use facts::facts;
pub use planner::Planner;

/// Characters of a document that takes more than a moment, and how many of those are worked on at once.
const LARGE: usize = 64 << 10;
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// A run that somebody wants, or wants to see the plan of.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// In which project.
    pub project: String,
    /// Whose it will be, by name.
    pub user: String,
    /// The parameters that were given.
    pub parameters: JsonMap,
    /// The digest of the folder of code that goes with the document.
    pub code: Option<String>,
    /// The id that the run gets; a new one where none is given.
    pub id: Option<RunId>,
    /// The outermost run, where a task of another run starts it.
    pub root: Option<RunId>,
    /// The pipelines, the outermost first, of which each runs the next, and the last this one.
    pub above: Vec<String>,
    /// The moment that it stands for; the present one where none is given.
    pub date: Option<Timestamp>,
    /// The time zone of this moment, unless its pipeline's schedule has one.
    pub timezone: Option<String>,
    /// Where it goes, instead of where its pipeline would.
    pub place: Option<Pool>,
}

impl Order {
    /// A run that somebody looks at before there is one.
    pub fn looked_at(caller: &Caller, project: String, parameters: JsonMap, code: Option<String>) -> Self {
        let user = caller.acting();
        Self {
            project,
            user,
            parameters,
            code,
            id: None,
            root: None,
            above: Vec::new(),
            date: None,
            timezone: None,
            place: None,
        }
    }
}

/// Plans a run of a document.
///
/// # Errors
/// Every mistake in the document and its parameters, each with its place, that its cluster would not take its first tasks, or
/// what the server lacks.
pub(crate) async fn plan(planner: &Planner, text: String, order: Order) -> ApiResult<(Document, Planned)> {
    let (document, planned, _) = planned(planner, text, order, Misfits::Refused).await?;
    Ok((document, planned))
}

/// Plans a run to show its jobs: whether its cluster would take them is told of each.
///
/// # Errors
/// Every mistake in the document and its parameters, each with its place, or what the server lacks.
pub(crate) async fn shown(planner: &Planner, text: String, order: Order) -> ApiResult<(Document, Planned)> {
    let (document, planned, _) = planned(planner, text, order, Misfits::Shown).await?;
    Ok((document, planned))
}

/// Plans a run to see what would become of it: tasks that can never fit, and first ones that their cluster would not take,
/// are told beside the plan, and not refused.
///
/// # Errors
/// Every other mistake in the document and its parameters, or what the server lacks.
pub(crate) async fn foresee(
    planner: &Planner,
    text: String,
    order: Order,
) -> ApiResult<(RunPlan, Vec<Problem>)> {
    let (_, planned, misfits) = planned(planner, text, order, Misfits::Told).await?;
    Ok((planned.plan, misfits))
}

/// What becomes of tasks that can never fit, or that their cluster would not take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Misfits {
    /// They are mistakes.
    Refused,
    /// They are told beside the plan.
    Told,
    /// What can never fit is a mistake; what the cluster would not take is told at its jobs.
    Shown,
}

async fn planned(
    planner: &Planner,
    text: String,
    order: Order,
    misfits: Misfits,
) -> ApiResult<(Document, Planned, Vec<Problem>)> {
    let chosen = order.place.is_some();
    let found = planned_there(planner, text, order, misfits).await;
    found.map_err(|error| if chosen && !error.problems().is_empty() { at_choice(&error) } else { error })
}

/// Mistakes about the place of a pipeline, told as mistakes about the one that was chosen for it.
fn at_choice(error: &ApiError) -> ApiError {
    let mut problems = error.problems().to_vec();
    place::at_choice(&mut problems);
    ApiError::invalid(problems)
}

async fn planned_there(
    planner: &Planner,
    text: String,
    order: Order,
    misfits: Misfits,
) -> ApiResult<(Document, Planned, Vec<Problem>)> {
    let length = text.len();
    let mut document = parse(text).await?.map_err(ApiError::invalid)?;
    demand_no_cycle(&order.above, &document.pipeline.name)?;
    let places = places(planner, &order.project).await?;
    let mut outside = place::bind(&mut document.pipeline, &places, order.place.as_ref());
    document.locate(&mut outside);
    if !outside.is_empty() {
        return Err(ApiError::invalid(outside));
    }
    let facts = facts(planner, &order.project, &order.user, document.pipeline.cluster.as_deref()).await?;
    let context = context(planner, &order);
    let (templates, folders, above) = (planner.templates(), planner.folders.clone(), order.above);
    let (chosen, clusters, become_of) = (order.place, planner.clusters.clone(), misfits);
    let (document, mut planned, misfits) = compile(length, move || {
        let inputs =
            PlanInputs { context, parameters: order.parameters, templates: &templates, facts: &facts };
        let (planned, mut misfits) = match cubeloom_compiler::plan(&document, &inputs) {
            Err(problems) if become_of == Misfits::Told && are_misfits(&problems) => {
                // Of a cluster whose nodes are not known nothing is too large.
                let facts = Facts { nodes: Vec::new(), ..facts.clone() };
                (cubeloom_compiler::plan(&document, &PlanInputs { facts: &facts, ..inputs })?, problems)
            }
            other => (other?, Vec::new()),
        };
        let mut missing = code::missing(&folders, &planned.plan);
        // Other clusters take jobs of anybody.
        if facts.slurm.is_some() && become_of != Misfits::Shown {
            let told = if become_of == Misfits::Told { &mut misfits } else { &mut missing };
            told.extend(untaken(&clusters, &planned.plan, become_of));
            document.locate(&mut misfits);
        }
        document.locate(&mut missing);
        if missing.is_empty() { Ok((document, planned, misfits)) } else { Err(missing) }
    })
    .await?
    .map_err(ApiError::invalid)?;
    planned.plan.place = chosen;
    let mut wrong =
        sub_runs::wrong_calls(planner, &planned.plan, &above, become_of != Misfits::Refused).await?;
    document.locate(&mut wrong);
    if wrong.is_empty() { Ok((document, planned, misfits)) } else { Err(ApiError::invalid(wrong)) }
}

/// What its cluster says of a plan's first tasks, where it would not take them: that whom the run is for has no account
/// there, say. It is a mistake about the cluster, or told of each task.
fn untaken(clusters: &Clusters, plan: &RunPlan, become_of: Misfits) -> Vec<Problem> {
    let found = preview::unbound(plan, clusters::foresee(clusters, &plan.cluster));
    let found = found.into_iter().map(|(ix, failure)| match become_of {
        Misfits::Told => (format!("/tasks/{}", ix.index()), failure.message),
        _ => ("/cluster".to_owned(), failure.message),
    });
    // The same may be said of all of them.
    let found: BTreeSet<(String, String)> = found.collect();
    found.into_iter().map(|(path, message)| Problem::error(Code::UnknownPlace, path, message)).collect()
}

/// Whether nothing else is wrong than that something can never fit.
fn are_misfits(problems: &[Problem]) -> bool {
    let mut errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.all(|problem| problem.code == Code::NeverFits)
}

/// Refuses a pipeline that would be run by a run of itself.
///
/// # Errors
/// That it would, and by which.
pub(crate) fn demand_no_cycle(above: &[String], name: &str) -> ApiResult<()> {
    if !above.iter().any(|one| one == name) {
        return Ok(());
    }
    let names: Vec<String> =
        above.iter().map(String::as_str).chain([name]).map(|name| format!("`{name}`")).collect();
    let message = format!("it would run itself, without an end: {}", names.join(" runs "));
    Err(ApiError::invalid(vec![Problem::error(Code::Cycle, "", message)]))
}

/// Everything that can be said about a document before a run gives its parameters values. The document comes only
/// without errors.
///
/// # Errors
/// What the server lacks.
pub(crate) async fn check(
    planner: &Planner,
    project: &str,
    user: &str,
    text: String,
) -> ApiResult<(Option<Document>, Vec<Problem>)> {
    let length = text.len();
    let places = places(planner, project).await?;
    let (cluster, outside, text, places) = compile(length, move || {
        let Ok(mut document) = parse_pipeline(&text) else { return (None, Vec::new(), text, places) };
        let mut outside = place::bind(&mut document.pipeline, &places, None);
        document.locate(&mut outside);
        (document.pipeline.cluster, outside, text, places)
    })
    .await?;
    let facts = facts(planner, project, user, cluster.as_deref()).await?;
    let templates = planner.templates();
    // What is outside of them is told already.
    let place = move |pipeline: &mut Pipeline| drop(place::bind(pipeline, &places, None));
    let checked = move || check_placed(&text, &templates, &facts, place);
    let (document, mut problems) = compile(length, checked).await?;
    problems.extend(outside);
    Ok((document, problems))
}

/// Where a document goes by itself, and every place where its project's jobs may go: each cluster, its node groups, and
/// what else the project is bound to.
///
/// # Errors
/// Mistakes in the document's form; what the server lacks.
pub(crate) async fn choices(planner: &Planner, project: &str, text: String) -> ApiResult<(Pool, Vec<Pool>)> {
    let mut document = parse(text).await?.map_err(ApiError::invalid)?;
    let places = places(planner, project).await?;
    // What is outside is told where it is planned.
    place::bind(&mut document.pipeline, &places, None);
    let mut found: BTreeSet<Pool> = places.allowed.iter().cloned().collect();
    let clusters = planner.clusters.all();
    let usual = clusters.iter().map(|(name, _)| name).find(|name| *name == LOCAL);
    let usual = usual.or_else(|| clusters.first().map(|(name, _)| name)).cloned().unwrap_or_default();
    for (_, executor) in clusters {
        let facts =
            tokio::task::spawn_blocking(move || executor.facts()).await.map_err(ApiError::internal)?;
        let groups = facts.node_groups.iter().cloned().map(Some);
        let pools =
            groups.chain([None]).map(|node_group| Pool { cluster: facts.cluster.clone(), node_group });
        found.extend(pools.filter(|pool| places.allow(pool)));
    }
    Ok((place::of(document.pipeline, &usual), found.into_iter().collect()))
}

/// Where the project's jobs may go; anywhere, when there is no such project.
async fn places(planner: &Planner, project: &str) -> ApiResult<Places> {
    let found = planner.store.project(project).await?;
    Ok(found.map(|project| project.places).unwrap_or_default())
}

/// Reads a document: what it says, or every mistake in its form.
///
/// # Errors
/// What the server lacks.
pub(crate) async fn parse(text: String) -> ApiResult<Result<Document, Vec<Problem>>> {
    compile(text.len(), move || parse_pipeline(&text)).await
}

/// Large documents take the compiler a while, which must hold up neither other requests nor, however many are sent,
/// all cores.
async fn compile<T: Send + 'static>(
    length: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> ApiResult<T> {
    let turn = match length {
        LARGE.. => Some(AT_ONCE.acquire().await.map_err(ApiError::internal)?),
        _ => None,
    };
    // The turn goes along: whoever asked may be gone before the work is done.
    let work = move || (work(), turn).0;
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}

fn context(planner: &Planner, order: &Order) -> RunContext {
    let now: Timestamp = planner.now();
    let new = || RunId::new(now, u128::from_le_bytes(secret::random()));
    RunContext {
        id: order.id.clone().unwrap_or_else(new),
        root: order.root.clone(),
        project: order.project.clone(),
        user: order.user.clone(),
        date: order.date.unwrap_or(now),
        timezone: order.timezone.clone(),
        code: order.code.clone(),
    }
}
