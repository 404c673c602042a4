//! `GET /projects/{project}/volumes`

use axum::extract::State;

use super::view::VolumeView;
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;
use crate::volumes;

/// Lists the volumes of the project, by name.
///
/// Every project has the volume `workspace`.
#[utoipa::path(
    get,
    path = "/projects/{project}/volumes",
    tag = "volumes",
    params(("project" = String, Path), PageQuery),
    responses((status = 200, body = Page<VolumeView>))
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<VolumeView>>> {
    let mut found = volumes::all(&web, &project).await?;
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let Page { items: found, next_cursor } = Page::cut(found, &page, |volume| volume.name.clone())?;
    let mut items = Vec::with_capacity(found.len());
    for volume in found {
        items.push(VolumeView::of(&web, volume).await?);
    }
    Ok(Json(Page { items, next_cursor }))
}
