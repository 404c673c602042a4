//! Turns a document into a plan: calls the compiler with the installation's and the project's data. Runs,
//! previews, validation and hooks share this code, so that a preview matches the run.

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

/// Size of a document that is slow to compile, in characters, and how many of these compile concurrently.
const LARGE: usize = 64 << 10;
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// A run to plan.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub project: String,
    /// Name of the user who owns the run.
    pub user: String,
    pub parameters: JsonMap,
    /// Digest of the code folder that belongs to the document.
    pub code: Option<String>,
    /// Id of the run. `None` generates one.
    pub id: Option<RunId>,
    /// The root run, if a task of another run starts this one.
    pub root: Option<RunId>,
    /// Pipelines from the root run down to this one. Each runs the next.
    pub above: Vec<String>,
    /// Logical date. `None` means now.
    pub date: Option<Timestamp>,
    /// Time zone of the date, unless the pipeline's schedule has one.
    pub timezone: Option<String>,
    /// Target cluster, instead of the pipeline's.
    pub place: Option<Pool>,
}

impl Order {
    /// A run that is previewed before it is created.
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
/// All problems of the document and its parameters, with their positions. First tasks that their cluster
/// would refuse are such problems. Or a server error.
pub(crate) async fn plan(planner: &Planner, text: String, order: Order) -> ApiResult<(Document, Planned)> {
    let (document, planned, _) = planned(planner, text, order, Misfits::Refused).await?;
    Ok((document, planned))
}

/// Plans a run to show its jobs. Each job says whether its cluster would refuse it.
///
/// # Errors
/// All problems of the document and its parameters, with their positions. Or a server error.
pub(crate) async fn shown(planner: &Planner, text: String, order: Order) -> ApiResult<(Document, Planned)> {
    let (document, planned, _) = planned(planner, text, order, Misfits::Shown).await?;
    Ok((document, planned))
}

/// Plans a run for a forecast. Tasks that can never fit, and first tasks that their cluster would refuse, are
/// returned with the plan.
///
/// # Errors
/// All other problems of the document and its parameters. Or a server error.
pub(crate) async fn foresee(
    planner: &Planner,
    text: String,
    order: Order,
) -> ApiResult<(RunPlan, Vec<Problem>)> {
    let (_, planned, misfits) = planned(planner, text, order, Misfits::Told).await?;
    Ok((planned.plan, misfits))
}

/// How to treat tasks that can never fit, or that their cluster would refuse.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Misfits {
    /// As errors.
    Refused,
    /// Returned with the plan.
    Told,
    /// Tasks that can never fit are errors. Tasks that the cluster would refuse are reported with their jobs.
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

/// Reports problems about the pipeline's target at the chosen target's field.
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
                // Without known nodes, nothing is too large.
                let facts = Facts { nodes: Vec::new(), ..facts.clone() };
                (cubeloom_compiler::plan(&document, &PlanInputs { facts: &facts, ..inputs })?, problems)
            }
            other => (other?, Vec::new()),
        };
        let mut missing = code::missing(&folders, &planned.plan);
        // Only Slurm clusters require an account of the user.
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

/// Reasons for which the cluster would refuse a plan's first tasks, such as a missing account of the run's
/// user. They are reported for the cluster, or for each task.
fn untaken(clusters: &Clusters, plan: &RunPlan, become_of: Misfits) -> Vec<Problem> {
    let found = preview::unbound(plan, clusters::foresee(clusters, &plan.cluster));
    let found = found.into_iter().map(|(ix, failure)| match become_of {
        Misfits::Told => (format!("/tasks/{}", ix.index()), failure.message),
        _ => ("/cluster".to_owned(), failure.message),
    });
    // All tasks may have the same reason.
    let found: BTreeSet<(String, String)> = found.collect();
    found.into_iter().map(|(path, message)| Problem::error(Code::UnknownPlace, path, message)).collect()
}

/// Whether all errors are about tasks that can never fit.
fn are_misfits(problems: &[Problem]) -> bool {
    let mut errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.all(|problem| problem.code == Code::NeverFits)
}

/// Refuses a pipeline that would run itself through its sub-runs.
///
/// # Errors
/// The cycle of pipelines.
pub(crate) fn demand_no_cycle(above: &[String], name: &str) -> ApiResult<()> {
    if !above.iter().any(|one| one == name) {
        return Ok(());
    }
    let names: Vec<String> =
        above.iter().map(String::as_str).chain([name]).map(|name| format!("`{name}`")).collect();
    let message = format!("it would run itself endlessly: {}", names.join(" runs "));
    Err(ApiError::invalid(vec![Problem::error(Code::Cycle, "", message)]))
}

/// Validates a document before a run gives its parameters values. Returns the document only without errors.
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
    // Problems about the target were reported above.
    let place = move |pipeline: &mut Pipeline| drop(place::bind(pipeline, &places, None));
    let checked = move || check_placed(&text, &templates, &facts, place);
    let (document, mut problems) = compile(length, checked).await?;
    problems.extend(outside);
    Ok((document, problems))
}

/// The document's own target, and all targets that the project can use: each allowed cluster, its node
/// groups, and the project's allowed targets.
///
/// # Errors
/// Syntax problems of the document. Or a server error.
pub(crate) async fn choices(planner: &Planner, project: &str, text: String) -> ApiResult<(Pool, Vec<Pool>)> {
    let mut document = parse(text).await?.map_err(ApiError::invalid)?;
    let places = places(planner, project).await?;
    // Problems about the target are reported when it is planned.
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

/// Allowed targets of the project. All if there is no such project.
async fn places(planner: &Planner, project: &str) -> ApiResult<Places> {
    let found = planner.store.project(project).await?;
    Ok(found.map(|project| project.places).unwrap_or_default())
}

/// Parses a document. Returns it, or all its syntax problems.
pub(crate) async fn parse(text: String) -> ApiResult<Result<Document, Vec<Problem>>> {
    compile(text.len(), move || parse_pipeline(&text)).await
}

/// Large documents are slow to compile. This must not block other requests, nor take all CPUs if many are
/// sent.
async fn compile<T: Send + 'static>(
    length: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> ApiResult<T> {
    let turn = match length {
        LARGE.. => Some(AT_ONCE.acquire().await.map_err(ApiError::internal)?),
        _ => None,
    };
    // The permit moves along: the request may be cancelled before the work ends.
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
