//! `GET /health`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;

/// How the server is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `ok`
    pub status: &'static str,
}

/// Whether the server works: it can write its database. For load balancers and scripts.
#[utoipa::path(
    get,
    path = "/health",
    tag = "server",
    responses((status = 200, body = Health), (status = 503, body = ProblemDocument, content_type = "application/problem+json"))
)]
pub(crate) async fn health(State(web): State<Web>) -> ApiResult<Json<Health>> {
    web.store().check().await?;
    Ok(Json(Health { status: "ok" }))
}
