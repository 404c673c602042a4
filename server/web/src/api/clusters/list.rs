//! `GET /clusters`

use axum::extract::State;

use super::view::ClusterView;
use crate::clusters;
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Lists the clusters by name, with their capacity and usage.
#[utoipa::path(
    get,
    path = "/clusters",
    tag = "clusters",
    params(PageQuery),
    responses((status = 200, body = Page<ClusterView>))
)]
pub(crate) async fn list(
    State(web): State<Web>,
    lang: Lang,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<ClusterView>>> {
    let found = clusters::all(&web).await?;
    Ok(Json(told(lang, Page::cut(found, &page, |cluster| cluster.name.clone())?)))
}
