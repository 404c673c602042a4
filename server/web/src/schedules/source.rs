//! Schedules after another pipeline's runs: permission to wait for it, and no cycles.

use std::collections::BTreeSet;

use cubeloom_domain::identity::User;
use cubeloom_domain::pipeline::Schedule;
use cubeloom_domain::schedule::PipelineName;
use cubeloom_domain::{Code, Problem};

use super::look;
use crate::auth::{Caller, projects_of};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Maximum length of a chain of pipelines, each of which runs after the next.
const LONGEST: usize = 100;
/// Fields that name the other pipeline and its project.
const PIPELINE: &str = "/schedule/after/pipeline";
const PROJECT: &str = "/schedule/after/project";

/// Problems of the pipeline that a document's schedule names. The caller must have access to its project, and
/// the pipelines must not start each other in a cycle. A missing pipeline is only a warning.
pub(crate) async fn check(
    web: &Web,
    caller: &Caller,
    of: &PipelineName,
    schedule: Option<&Schedule>,
) -> ApiResult<Vec<Problem>> {
    let Some((schedule, source)) = schedule.and_then(|one| Some((one, source(of, one)?))) else {
        return Ok(Vec::new());
    };
    let seen = projects_of(web, caller).await?;
    let is_seen = source.project == of.project || seen.is_none_or(|seen| seen.contains(&source.project));
    if !is_seen || web.store().project(&source.project).await?.is_none() {
        let message = format!(
            "you are not a member of a project `{}`: ask its owners to add you, or name another one",
            source.project
        );
        return Ok(vec![Problem::error(Code::UnknownPipeline, PROJECT, message)]);
    }
    if leads_back(web, of, schedule).await? {
        return Ok(vec![Problem::error(Code::Cycle, PIPELINE, endless(of, &source))]);
    }
    if web.store().newest(&source.project, &source.pipeline).await?.is_none() {
        let message = format!(
            "the project `{}` has no pipeline `{}` yet: nothing starts before it exists and has run",
            source.project, source.pipeline
        );
        return Ok(vec![Problem::warning(Code::UnknownPipeline, PIPELINE, message)]);
    }
    Ok(Vec::new())
}

/// Refuses to start a cycle of pipelines. Two documents stored at the same time can create one.
///
/// # Errors
/// The cycle of pipelines.
pub(super) async fn demand_end(web: &Web, of: &PipelineName, schedule: &Schedule) -> ApiResult<()> {
    match source(of, schedule) {
        Some(source) if leads_back(web, of, schedule).await? => {
            Err(ApiError::invalid(vec![Problem::error(Code::Cycle, PIPELINE, endless(of, &source))]))
        }
        _ => Ok(()),
    }
}

/// Whether the user can still read the project of the pipeline that theirs runs after.
pub(super) async fn may_wait(
    web: &Web,
    of: &PipelineName,
    schedule: &Schedule,
    user: &User,
) -> ApiResult<bool> {
    match source(of, schedule) {
        Some(source) if source.project != of.project && !user.admin => {
            Ok(web.store().role(&source.project, &user.id).await?.is_some())
        }
        _ => Ok(true),
    }
}

/// The pipeline that this one runs after.
fn source(of: &PipelineName, schedule: &Schedule) -> Option<PipelineName> {
    let after = schedule.after.as_ref()?;
    let project = after.project.as_ref().unwrap_or(&of.project).clone();
    Some(PipelineName { project, pipeline: after.pipeline.clone() })
}

/// Whether a chain of pipelines, each of which runs after the next, returns to its first.
async fn leads_back(web: &Web, of: &PipelineName, schedule: &Schedule) -> ApiResult<bool> {
    let mut next = source(of, schedule);
    let mut passed = BTreeSet::new();
    while let Some(one) = next.take() {
        if one == *of || passed.len() >= LONGEST {
            return Ok(true);
        }
        if !passed.insert(one.clone()) {
            // A cycle without this pipeline: it was reported when the others were stored.
            return Ok(false);
        }
        next = look(web, &one).await?.and_then(|state| source(&one, state.schedule.as_ref()?));
    }
    Ok(false)
}

fn endless(of: &PipelineName, source: &PipelineName) -> String {
    format!(
        "`{}` itself runs after `{}`, directly or indirectly: they would start each other endlessly",
        source.pipeline, of.pipeline
    )
}
