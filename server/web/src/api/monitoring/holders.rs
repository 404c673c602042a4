//! `GET /holders`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::HolderView;
use crate::api::clusters::view::AmountView;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::monitoring;
use crate::page::{Page, PageQuery};
use crate::state::Web;
use crate::time::Time;

/// What a person holds for a project on a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HoldsView {
    /// The cluster.
    pub cluster: String,
    /// The project; absent where all projects are told of together that the caller is no member of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Who started the runs; absent there, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// How many attempts hold it.
    pub attempts: usize,
    /// What they have asked for.
    pub requested: AmountView,
    /// Since when the one runs that has run longest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// The attempts, the newest first; at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<HolderView>,
}

/// Who holds what now, by cluster, project and person. What projects hold that the caller is no member of is told as a sum for
/// each cluster.
#[utoipa::path(
    get,
    path = "/holders",
    tag = "monitoring",
    params(PageQuery),
    responses((status = 200, body = Page<HoldsView>))
)]
pub(crate) async fn holders(
    State(web): State<Web>,
    caller: Caller,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<HoldsView>>> {
    Ok(Json(monitoring::holders(&web, &caller, &page).await?))
}
