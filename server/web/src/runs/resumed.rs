//! Resumes a run with a newer version of its pipeline: a new run that reuses the finished tasks that did not
//! change.

use cubeloom_domain::record::RunRecord;
use cubeloom_domain::schedule::Cause;
use cubeloom_domain::state::RunState;

use super::reader;
use super::start::{self, Source, Started, Wanted, read};
use super::wish::{demand_end, explained};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::part::{self, Rest, WantedPart};
use crate::plan::{self, Order};
use crate::state::Web;

/// A version that a run can be resumed with.
pub(crate) struct Resumable {
    /// Version of the pipeline.
    pub version: u32,
    /// Tasks that would run, and tasks that would be reused.
    pub rest: Rest,
}

/// What a run would resume with a version of its pipeline, by default the newest.
///
/// # Errors
/// The run cannot be resumed, or the version cannot run with its parameters.
pub(crate) async fn foresee(
    web: &Web,
    caller: &Caller,
    run: &RunRecord,
    version: Option<u32>,
) -> ApiResult<Resumable> {
    demand_rest(run)?;
    let planner = web.planner();
    let source = Source::Stored { pipeline: run.pipeline.clone(), version };
    let (text, code, version) = read(planner, &run.project, source).await?;
    let then = reader::plan(web, &run.id).await?;
    let order = Order {
        date: Some(then.context.date),
        place: then.place.clone(),
        ..Order::looked_at(caller, run.project.clone(), run.parameters.clone(), code)
    };
    let (_, planned) = plan::plan(planner, text, order).await?;
    let rest = part::rest(&planner.store, &planner.folders, planned.plan, &run.id).await?;
    Ok(Resumable { version: version.unwrap_or_default(), rest })
}

/// Starts a run that resumes another one with a version of its pipeline, by default the newest. It keeps the
/// parameters, a chosen target cluster, and the logical date.
///
/// # Errors
/// As [`foresee`].
pub(crate) async fn start(
    web: &Web,
    caller: &Caller,
    run: &RunRecord,
    version: Option<u32>,
) -> ApiResult<Started> {
    demand_rest(run)?;
    let wanted = Wanted {
        project: run.project.clone(),
        user: caller.user.name.clone(),
        acting: caller.acting(),
        source: Source::Stored { pipeline: run.pipeline.clone(), version },
        parameters: run.parameters.clone(),
        part: Some(WantedPart { choice: None, of: Some(run.id.clone()) }),
        place: reader::plan(web, &run.id).await?.place.clone(),
        origin: None,
        cause: Cause { date: run.cause.date, ..Cause::default() },
    };
    let started = start::start(web, wanted, audit::entry(web, caller, "run.start", "").clone()).await;
    explained(web, caller, started).await
}

fn demand_rest(run: &RunRecord) -> ApiResult<()> {
    demand_end(run)?;
    let id = &run.id;
    if run.state == RunState::Succeeded {
        return Err(ApiError::conflict(format!("run {id} has succeeded: there is nothing left to run")));
    }
    if run.version.is_none() {
        let message = format!("run {id} was started from a document that is not stored: submit it again");
        return Err(ApiError::conflict(message));
    }
    Ok(())
}
