//! `PATCH /users/{user}`

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{UserView, change, person};
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Changes to apply. Omitted fields keep their values.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UserChange {
    /// Display name.
    #[schema(max_length = 200)]
    pub display_name: Option<String>,
    /// Email address. An empty string removes it.
    #[schema(max_length = 200)]
    pub email: Option<String>,
    /// Whether the user is a platform administrator.
    pub admin: Option<bool>,
    /// Whether sign-in is disabled. Disabling it ends the user's sessions and tokens immediately.
    pub disabled: Option<bool>,
}

/// Updates an account.
///
/// The last administrator remains an administrator.
#[utoipa::path(
    patch,
    path = "/users/{user}",
    tag = "people",
    params(
        ("user" = String, Path, description = "A person's name, or their id"),
        ("If-Match" = String, Header)
    ),
    request_body = UserChange,
    responses(
        (status = 200, body = UserView, headers(("ETag" = String))),
        (status = 409, description = "The platform would have no administrator.", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn update(
    State(web): State<Web>,
    caller: Caller,
    Path(user): Path<String>,
    IfMatch(expected): IfMatch,
    Json(wanted): Json<UserChange>,
) -> ApiResult<Tagged<UserView>> {
    let before = person(&web, &user).await?;
    let mut after = before.clone();
    if let Some(display_name) = wanted.display_name {
        after.display_name = display_name;
    }
    if wanted.email.is_some() {
        after.email = wanted.email;
    }
    after.admin = wanted.admin.unwrap_or(before.admin);
    after.disabled = wanted.disabled.unwrap_or(before.disabled);
    change(&web, &caller, &before, after, expected).await
}
