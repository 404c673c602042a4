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

/// A node to which no job goes.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AsideView {
    /// Its name.
    pub node: String,
    /// Since when.
    pub since: Time,
    /// Why, as a sentence.
    pub why: String,
    /// Who has set it aside, where it was a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// What they say of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The attempts that failed through it, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<AsideFailureView>,
    /// Whether it has been aside for so long that it may be tried again.
    pub offered: bool,
}

/// An attempt that failed through its node.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AsideFailureView {
    /// When.
    pub at: Time,
    /// How, as a sentence.
    pub message: String,
    /// Its run, where you may see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Its task, where you may see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}

/// Why a node is set aside.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AsideBody {
    /// One line.
    pub note: String,
}

/// Sets a node aside: no new job goes there, those that run there go on, and a spare of its node group takes its place. A
/// node that is aside already stays so for its first reason.
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

/// Takes a node back: jobs go there again, and what failed through it before counts no more.
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
