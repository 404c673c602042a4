//! `GET /runs/{run}/objects`

use axum::extract::State;
use cubeloom_compiler::lower;
use cubeloom_compiler::preview::{self, Jobs};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::{RunId, TaskIx};
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::ObjectsView;
use crate::clusters;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::runs::Reader;
use crate::runs::job::Material;
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Task whose manifests are requested.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ObjectsQuery {
    /// Task.
    pub task: String,
    /// Instance. Defaults to 0.
    pub instance: Option<u32>,
}

/// Gets the manifests that the last attempt of an instance submitted to its cluster.
///
/// Before the first attempt, the response contains the manifests that would be submitted. Values that are known only
/// at submission are placeholders such as `<address of worker-0>`.
#[utoipa::path(
    get,
    path = "/runs/{run}/objects",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id."), ObjectsQuery),
    responses(
        (status = 200, body = ObjectsView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn objects(
    State(web): State<Web>,
    lang: Lang,
    Path(run): Path<RunId>,
    Query(query): Query<ObjectsQuery>,
) -> ApiResult<Json<ObjectsView>> {
    let reader = Reader::open(&web, &run).await?;
    let (task, instance) = (reader.find(&query.task)?, query.instance.unwrap_or(0));
    let attempts = web.store().attempts_of(&run, task, instance).await?;
    let plan = reader.plan.clone();
    let view = match attempts.into_iter().last() {
        Some(attempt) => {
            let material = Material::read(&web, &run, plan, task).await?;
            blocking(move || submitted(&material, &attempt)).await?
        }
        None => {
            let foresee = clusters::foresee(web.clusters(), &plan.cluster);
            blocking(move || previewed(&plan, task, instance, foresee)).await?
        }
    };
    Ok(Json(told(lang, view)))
}

async fn blocking(work: impl FnOnce() -> ObjectsView + Send + 'static) -> ApiResult<ObjectsView> {
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}

/// Manifests that an attempt submitted: rebuilt as at its submission, with the stored bindings.
fn submitted(material: &Material, attempt: &AttemptRecord) -> ObjectsView {
    let built = material.job(attempt).and_then(|job| lower::lower(&job, &attempt.bindings));
    let (object, message) = match built {
        Ok(lowered) => (lowered.object(), None),
        Err(failure) => (None, Some(failure.message)),
    };
    let (task, instance, n) = (material.planned().name.clone(), attempt.key.instance, attempt.key.n);
    ObjectsView { task, instance, attempt: Some(n), bound: object.is_some(), object, message }
}

fn previewed(
    plan: &RunPlan,
    task: TaskIx,
    instance: u32,
    foresee: impl Fn(&Job) -> Result<Option<Bindings>, Failure>,
) -> ObjectsView {
    let at = instance as usize;
    let (object, message) = match preview::bound(plan, task, at..at + 1, foresee).jobs {
        Jobs::Known(jobs) => match jobs.into_iter().next().transpose() {
            Ok(object) => (object, None),
            Err(failure) => (None, Some(failure.message)),
        },
        Jobs::Later(message) => (None, Some(message)),
    };
    ObjectsView { task: plan.task(task).name.clone(), instance, attempt: None, bound: false, object, message }
}
