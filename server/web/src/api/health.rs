//! `GET /health`

use axum::extract::State;
use cubeloom_store::ReserveState;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;

/// Health of the server.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// Status: `ok`.
    pub status: &'static str,
    /// Disk space reserved beside a SQLite database, for when its disk is full: `kept`, `missing` (released, or could
    /// not be created), or `none`.
    pub database_reserve: &'static str,
}

/// Checks whether the server works and can write to its database.
///
/// For load balancers and scripts.
#[utoipa::path(
    get,
    path = "/health",
    tag = "server",
    responses((status = 200, body = Health), (status = 503, body = ProblemDocument, content_type = "application/problem+json"))
)]
pub(crate) async fn health(State(web): State<Web>) -> ApiResult<Json<Health>> {
    web.store().check().await?;
    let database_reserve = match web.store().reserve() {
        ReserveState::Kept => "kept",
        ReserveState::Missing => "missing",
        ReserveState::None => "none",
    };
    Ok(Json(Health { status: "ok", database_reserve }))
}
