//! `GET /projects/{project}/pipelines/{pipeline}/hooks`

use axum::extract::State;

use super::HookView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the hooks of a pipeline, oldest first.
///
/// Only editors can see them, as a hook's URL is sufficient to use it.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/hooks",
    tag = "pipelines",
    params(("project" = String, Path), ("pipeline" = String, Path), PageQuery),
    responses(
        (status = 200, body = Page<HookView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Path((project, pipeline)): Path<(String, String)>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<HookView>>> {
    let (limit, after) = (query.limit()?, query.after()?);
    if web.store().newest(&project, &pipeline).await?.is_none() {
        return Err(ApiError::not_found("pipeline", &pipeline));
    }
    let hooks = web.store().hooks(&project, Some(&pipeline)).await?.into_iter();
    let later = hooks.filter(|hook| after.as_ref().is_none_or(|after| hook.id > *after));
    let page = Page::of(later.take(limit + 1).collect(), limit, |hook| hook.id.clone());
    Ok(Json(page.map(|hook| HookView::new(&web, hook))))
}
