//! `GET /projects/{project}/registries`

use axum::extract::State;

use super::view::RegistryView;
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists the registries of a project, by name.
#[utoipa::path(
    get,
    path = "/projects/{project}/registries",
    tag = "registries",
    params(("project" = String, Path), PageQuery),
    responses((status = 200, body = Page<RegistryView>))
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<RegistryView>>> {
    let found = web.store().registries(&project).await?;
    Ok(Json(Page::cut(found, &page, |registry| registry.name.clone())?.map(RegistryView::from)))
}
