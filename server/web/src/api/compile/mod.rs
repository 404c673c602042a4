//! `POST /projects/{project}/compile`

mod view;

use axum::extract::State;
use cubeloom_compiler::preview;
use cubeloom_domain::TaskIx;
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::RunPlan;
use utoipa_axum::router::OpenApiRouter;

use crate::auth::Caller;
use crate::clusters;
use crate::error::{ApiError, ApiResult, ProblemDocument, ProblemView};
use crate::extract::{Json, Path};
use crate::plan::{self, Order};
use crate::routes::routes;
use crate::runs::start::{Source, read};
use crate::runs::wish::explained;
use crate::state::Web;
use crate::texts::Lang;

pub(crate) use view::{CompiledTaskView, CompiledView, ToCompile};

/// Maximum number of shown jobs per task.
const JOBS: usize = 20;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(compile))
}

/// Compiles a document without storing or starting it.
///
/// Returns the plan, and the jobs that each task would submit to the document's cluster on behalf of the caller.
/// Values known only at submission are replaced by placeholders.
#[utoipa::path(
    post,
    path = "/projects/{project}/compile",
    tag = "pipelines",
    params(("project" = String, Path)),
    request_body = ToCompile,
    responses(
        (status = 200, body = CompiledView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
async fn compile(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(project): Path<String>,
    Json(sent): Json<ToCompile>,
) -> ApiResult<Json<CompiledView>> {
    let source = Source::Document { text: sent.document, code: sent.code };
    let (text, code, _) = read(web.planner(), &project, source).await?;
    let order = Order::looked_at(&caller, project, sent.parameters, code);
    let planned = plan::shown(web.planner(), text, order).await;
    let (_, planned) = explained(&web, &caller, planned).await?;
    let warnings = planned.warnings.iter().map(|one| ProblemView::told(one, lang)).collect();
    let plan = planned.plan;
    let foresee = clusters::foresee(web.clusters(), &plan.cluster);
    let work = move || view(&plan, warnings, lang, foresee);
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?.map(Json).map_err(ApiError::internal)
}

fn view(
    plan: &RunPlan,
    warnings: Vec<ProblemView>,
    lang: Lang,
    foresee: impl Fn(&Job) -> Result<Option<Bindings>, Failure>,
) -> Result<CompiledView, serde_json::Error> {
    let tasks = (0u32..).map(TaskIx).take(plan.tasks.len());
    let preview = |ix| preview::bound(plan, ix, 0..JOBS, &foresee);
    let tasks = tasks.map(|ix| CompiledTaskView::new(plan, ix, preview(ix), lang));
    Ok(CompiledView {
        run: serde_json::to_value(&plan.context)?,
        pipeline: plan.pipeline.clone(),
        cluster: plan.cluster.clone(),
        parameters: plan.parameters.clone(),
        tasks: tasks.collect(),
        warnings,
    })
}
