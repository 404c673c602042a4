//! `GET /runs/{run}/tasks/{task}/instances/{instance}/attempts`, and the attempts of a whole task.

use axum::extract::State;
use cubeloom_domain::RunId;

use super::view::AttemptView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::runs::{Reader, describe};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Lists the attempts of an instance, oldest first.
#[utoipa::path(
    get,
    path = "/runs/{run}/tasks/{task}/instances/{instance}/attempts",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name."),
        ("instance" = u32, Path, description = "The instance.")
    ),
    responses(
        (status = 200, body = Page<AttemptView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn attempts(
    State(web): State<Web>,
    lang: Lang,
    Path((run, task, instance)): Path<(RunId, String, u32)>,
) -> ApiResult<Json<Page<AttemptView>>> {
    let reader = Reader::open(&web, &run).await?;
    let ix = reader.find(&task)?;
    let found = web.store().attempts_with_stacks(&run, ix, instance).await?;
    let planned = reader.plan.task(ix);
    let items = found.iter().map(|attempt| describe::attempt_now(&web, attempt, planned)).collect();
    Ok(Json(told(lang, Page { items, next_cursor: None })))
}

/// Lists the attempts of all tasks of a run, by task, instance and number.
///
/// They are the data for a chart of the run's time.
#[utoipa::path(
    get,
    path = "/runs/{run}/attempts",
    tag = "tasks",
    params(("run" = String, Path, description = "The run's id."), PageQuery),
    responses(
        (status = 200, body = Page<AttemptView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn all_attempts(
    State(web): State<Web>,
    lang: Lang,
    Path(run): Path<RunId>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<AttemptView>>> {
    let limit = page.limit()?;
    let after = page.after()?.map(|key| cursor(&key)).transpose()?;
    let reader = Reader::open(&web, &run).await?;
    let found = web.store().attempts_page(&run, after, limit + 1).await?;
    let page = Page::of(found, limit, |one| format!("{}.{}.{}", one.task.0, one.key.instance, one.key.n));
    let shown = page.map(|attempt| describe::attempt(&attempt, reader.plan.task(attempt.task)));
    Ok(Json(told(lang, shown)))
}

fn cursor(key: &str) -> ApiResult<(u32, u32, u32)> {
    let mut parts = key.split('.').map(str::parse);
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(Ok(task)), Some(Ok(instance)), Some(Ok(n)), None) => Ok((task, instance, n)),
        _ => Err(ApiError::field("/cursor", "the cursor is not from this list: start without one")),
    }
}
