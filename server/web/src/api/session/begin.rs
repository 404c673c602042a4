//! `POST /session`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::me::MeView;
use crate::auth::{Visitor, sign_in};
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;

/// Credentials for signing in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// Name.
    #[schema(max_length = 64)]
    pub name: String,
    /// Password of the user.
    #[schema(max_length = 1024)]
    pub password: String,
}

/// Signs in a user and sets a session cookie.
///
/// This operation is for browsers. Programs send a token instead.
#[utoipa::path(
    post,
    path = "/session",
    tag = "people",
    request_body = Credentials,
    responses(
        (status = 201, body = MeView),
        (status = 401, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 429, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn begin(
    State(web): State<Web>,
    visitor: Visitor,
    Json(credentials): Json<Credentials>,
) -> ApiResult<Response> {
    let (user, _, cookie) = sign_in::sign_in(&web, &visitor, &credentials.name, credentials.password).await?;
    let view = MeView::of_session(user);
    Ok((StatusCode::CREATED, [(header::SET_COOKIE, cookie)], Json(view)).into_response())
}
