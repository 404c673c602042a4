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

/// What changes; what is absent stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UserChange {
    /// What they are called.
    #[schema(max_length = 200)]
    pub display_name: Option<String>,
    /// Where they can be reached; empty for nowhere.
    #[schema(max_length = 200)]
    pub email: Option<String>,
    /// Whether they administer the whole platform.
    pub admin: Option<bool>,
    /// Whether they may not sign in any more; their sessions and tokens end at once.
    pub disabled: Option<bool>,
}

/// Changes an account. The last administrator stays one.
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
        (status = 409, description = "Nobody would administer the platform.", body = ProblemDocument, content_type = "application/problem+json")
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
