//! `POST /users`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::UserView;
use crate::audit::Act;
use crate::auth::accounts::{self, NewAccount};
use crate::auth::{Caller, links};
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::Json;
use crate::state::Web;

/// Account to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    /// Sign-in name. It never changes.
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9][a-z0-9._@+-]*$")]
    pub name: String,
    /// Display name. Defaults to the name.
    #[serde(default)]
    #[schema(max_length = 200)]
    pub display_name: String,
    /// Email address.
    #[schema(max_length = 200)]
    pub email: Option<String>,
    /// Whether the user is a platform administrator.
    #[serde(default)]
    pub admin: bool,
    /// Password. If omitted, a link is created with which the user sets a password.
    #[schema(min_length = 10, max_length = 1024)]
    pub password: Option<String>,
}

/// A new account.
#[derive(Serialize, ToSchema)]
pub struct CreatedUser {
    /// Account.
    #[serde(flatten)]
    pub user: UserView,
    /// One-time link with which the user sets a password, if the request has none. Shown only in this response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// Creates an account.
#[utoipa::path(
    post,
    path = "/users",
    tag = "people",
    request_body = NewUser,
    responses(
        (status = 201, body = CreatedUser, headers(("ETag" = String), ("Location" = String))),
        (status = 409, description = "The name is taken.", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create(
    State(web): State<Web>,
    caller: Caller,
    Json(new): Json<NewUser>,
) -> ApiResult<Response> {
    let act = Act::of(&web, &caller);
    let wanted = NewAccount {
        name: new.name,
        display_name: new.display_name,
        email: new.email,
        admin: new.admin,
        password: new.password,
        federated: None,
    };
    let needs_link = wanted.password.is_none();
    let user = accounts::create(&act, wanted).await?;
    let link = if needs_link {
        let (link, secret) = links::reset(&act, &user).await?;
        Some(links::url(&web.settings().url, &link, &secret))
    } else {
        None
    };
    let place = [(header::LOCATION, format!("/api/v1/users/{}", user.name))];
    let view = CreatedUser { user: user.into(), link };
    Ok((StatusCode::CREATED, place, Tagged(1, view)).into_response())
}
