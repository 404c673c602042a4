//! `GET /runs/{run}/tasks`

use axum::extract::State;
use cubeloom_domain::RunId;

use super::view::TaskView;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::runs::Reader;
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Lists the tasks of a run, in document order.
#[utoipa::path(
    get,
    path = "/runs/{run}/tasks",
    tag = "tasks",
    params(("run" = String, Path, description = "The run's id."), PageQuery),
    responses(
        (status = 200, body = Page<TaskView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(run): Path<RunId>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<TaskView>>> {
    let limit = page.limit()?;
    let first = position(&page)?;
    let reader = Reader::open(&web, &run).await?.with_starts(&caller).await?;
    let all = u32::try_from(reader.plan.tasks.len()).unwrap_or(u32::MAX);
    let end = first.saturating_add(u32::try_from(limit + 1).unwrap_or(u32::MAX)).min(all);
    let found = reader.tasks(first.min(end)..end).await?;
    Ok(Json(told(lang, Page::of(found, limit, |task| task.index.to_string()))))
}

/// Position at which a page starts.
pub(super) fn position(page: &PageQuery) -> ApiResult<u32> {
    let unknown = |_| ApiError::field("/cursor", "the cursor is not from this list: start without one");
    let last: Option<u32> = page.after()?.map(|at| at.parse().map_err(unknown)).transpose()?;
    Ok(last.map_or(0, |last| last.saturating_add(1)))
}
