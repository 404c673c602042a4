//! `POST /links/use`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::me::MeView;
use crate::auth::accounts::NewAccount;
use crate::auth::{Visitor, links, sign_in};
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;

/// Request to use a link.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UseOfLink {
    /// Secret in the link, after `token=`.
    #[schema(max_length = 100)]
    pub token: String,
    /// Name to sign in with. Only for a new account.
    #[serde(default)]
    #[schema(max_length = 64)]
    pub name: String,
    /// Display name. Only for a new account.
    #[serde(default)]
    #[schema(max_length = 200)]
    pub display_name: String,
    /// New password.
    #[schema(min_length = 10, max_length = 1024)]
    pub password: String,
}

/// Uses a one-time link.
///
/// Creates the account that the link is for, or sets the password, and signs you in.
#[utoipa::path(
    post,
    path = "/links/use",
    tag = "people",
    request_body = UseOfLink,
    responses(
        (status = 201, body = MeView),
        (status = 409, description = "The name is taken.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 410, description = "The link was used or has expired.", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn use_up(
    State(web): State<Web>,
    visitor: Visitor,
    Json(with): Json<UseOfLink>,
) -> ApiResult<Response> {
    let act = visitor.act(&web, None);
    let link = links::open(&act, &with.token).await?;
    let wanted = NewAccount {
        name: with.name,
        display_name: with.display_name,
        password: Some(with.password),
        ..NewAccount::default()
    };
    let user = links::use_up(&act, &link, wanted).await?;
    let (_, cookie) = sign_in::enter(&web, &visitor, &user).await?;
    Ok((StatusCode::CREATED, [(header::SET_COOKIE, cookie)], Json(MeView::of_session(user))).into_response())
}
