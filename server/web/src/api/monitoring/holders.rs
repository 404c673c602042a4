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

/// Resources allocated to a user in a project on a cluster.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HoldsView {
    /// Cluster.
    pub cluster: String,
    /// Project. Omitted for the combined entry of all projects that the caller is not a member of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// User who started the runs. Omitted for the combined entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Number of attempts with allocations.
    pub attempts: usize,
    /// Resources requested by the attempts.
    pub requested: AmountView,
    /// Start time of the longest-running attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Attempts, newest first, at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<HolderView>,
}

/// Lists current allocations by cluster, project and user.
///
/// The allocations of projects that the caller is not a member of are summed for each cluster.
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
