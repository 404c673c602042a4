//! `PUT` and `DELETE` of /clusters/{cluster}/aside/{node}

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::nodes::NodeName;
use cubeloom_store::Created;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::Caller;
use crate::clusters::aside;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;
use crate::told::told;

/// A cordoned node.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AsideView {
    /// Name.
    pub node: String,
    /// Time at which the node was cordoned.
    pub since: Time,
    /// Reason, as a sentence.
    pub why: String,
    /// User who cordoned the node. Omitted if it was cordoned automatically.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Note by the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Attempts that failed because of the node, newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<AsideFailureView>,
    /// Whether the node has been cordoned long enough to be tried again.
    pub offered: bool,
}

/// An attempt that failed because of its node.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AsideFailureView {
    /// Time of the failure.
    pub at: Time,
    /// Description of the failure.
    pub message: String,
    /// Run, if you have access to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Task, if you have access to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}

/// Reason for cordoning a node.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AsideBody {
    /// Single line of text.
    pub note: String,
}

/// Cordons a node. New jobs are not placed there, running jobs continue, and a standby node of its node group
/// replaces it. A node that is already cordoned keeps its first reason.
#[utoipa::path(
    put,
    path = "/clusters/{cluster}/aside/{node}",
    operation_id = "set_node_aside",
    tag = "clusters",
    params(("cluster" = String, Path), ("node" = String, Path)),
    request_body = AsideBody,
    responses(
        (status = 200, body = AsideView),
        (status = 201, body = AsideView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn put(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path((cluster, node)): Path<(String, String)>,
    Json(body): Json<AsideBody>,
) -> ApiResult<Response> {
    let (created, view) = aside::set(&web, &caller, &NodeName { cluster, node }, body).await?;
    let status = if created == Created::Yes { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(told(lang, view))).into_response())
}

/// Uncordons a node.
///
/// Jobs are scheduled on the node again, and its earlier failures no longer count.
#[utoipa::path(
    delete,
    path = "/clusters/{cluster}/aside/{node}",
    operation_id = "take_node_back",
    tag = "clusters",
    params(("cluster" = String, Path), ("node" = String, Path)),
    responses(
        (status = 204),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn delete(
    State(web): State<Web>,
    caller: Caller,
    Path((cluster, node)): Path<(String, String)>,
) -> ApiResult<StatusCode> {
    aside::take_back(&web, &caller, &NodeName { cluster, node }).await?;
    Ok(StatusCode::NO_CONTENT)
}
