//! `PUT /projects/{project}/members/{user}`

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::identity::Role;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::MemberView;
use crate::api::users::person;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Membership of a user.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Role: `viewer`, `editor` or `owner`.
    #[schema(value_type = String, pattern = "^(viewer|editor|owner)$")]
    pub role: Role,
}

/// Adds a member or changes their role.
///
/// `If-Match` is required if the user is a member already.
#[utoipa::path(
    put,
    path = "/projects/{project}/members/{user}",
    tag = "projects",
    params(
        ("project" = String, Path),
        ("user" = String, Path, description = "A person's name, or their id"),
        ("If-Match" = Option<String>, Header)
    ),
    request_body = Place,
    responses(
        (status = 200, body = MemberView, headers(("ETag" = String))),
        (status = 201, body = MemberView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn put(
    State(web): State<Web>,
    caller: Caller,
    Path((project, user)): Path<(String, String)>,
    seen: Option<IfMatch>,
    Json(place): Json<Place>,
) -> ApiResult<Response> {
    let user = person(&web, &user).await?;
    let before = web.store().role(&project, &user.id).await?;
    let expected = match (before, seen) {
        (Some(_), None) => return Err(ApiError::precondition_required()),
        (_, seen) => seen.and_then(|seen| seen.0),
    };
    let entry = audit::entry(&web, &caller, "member.put", &user.name)
        .before(json!({"role": before}))
        .after(json!({"role": place.role}));
    let change = web.store().put_member(&project, &user.id, place.role, expected, &entry).await?;
    let revision = changed(change, "member", &user.name)?;
    web.people().forget();
    let status = if before.is_some() { StatusCode::OK } else { StatusCode::CREATED };
    let mut members = web.store().members(&project).await?.into_iter();
    let member = members.find(|member| member.user.id == user.id);
    let view = member.map(MemberView::from).ok_or_else(|| ApiError::not_found("member", &user.name))?;
    Ok((status, Tagged(revision, view)).into_response())
}
