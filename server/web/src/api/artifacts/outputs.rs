//! `GET /runs/{run}/outputs`

use axum::extract::State;
use cubeloom_domain::RunId;

use super::view::OutputsView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::runs::Reader;
use crate::runs::reported::{self, OfTask};
use crate::state::Web;

/// Lists the outputs of a run's tasks, by instance.
#[utoipa::path(
    get,
    path = "/runs/{run}/outputs",
    tag = "artifacts",
    params(("run" = String, Path, description = "The run's id."), OfTask, PageQuery),
    responses(
        (status = 200, body = Page<OutputsView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn outputs(
    State(web): State<Web>,
    Path(run): Path<RunId>,
    Query(of): Query<OfTask>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<OutputsView>>> {
    let reader = Reader::open(&web, &run).await?;
    let task = of.find(&reader)?;
    let plan = &reader.plan;
    let found = reported::page(&web, &run, task, &page, |one| {
        let (outputs, warnings) = (one.report.outputs.clone(), one.report.warnings.clone());
        let task = plan.task(one.task).name.clone();
        let view = OutputsView { task, instance: one.instance, outputs, warnings };
        let says_something = !view.outputs.is_empty() || !view.warnings.is_empty();
        Some(view).filter(|_| says_something).into_iter().collect()
    });
    Ok(Json(found.await?))
}
