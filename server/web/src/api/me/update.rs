//! `PATCH /me`

use axum::extract::State;
use cubeloom_domain::identity::User;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::users::{self, UserView};
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged};
use crate::extract::Json;
use crate::state::Web;

/// Changes to your profile. Omitted fields stay unchanged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Your display name.
    #[schema(max_length = 200)]
    pub display_name: Option<String>,
    /// Your email address. Empty for none.
    #[schema(max_length = 200)]
    pub email: Option<String>,
    /// Whether you receive email about your own runs: hung tasks, GPUs allocated but idle, and right-sizing changes.
    pub mails: Option<bool>,
}

/// Updates your display name, your email address, and whether you receive email.
#[utoipa::path(
    patch,
    path = "/me",
    tag = "people",
    params(("If-Match" = String, Header)),
    request_body = Profile,
    responses(
        (status = 200, body = UserView, headers(("ETag" = String))),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn update(
    State(web): State<Web>,
    caller: Caller,
    IfMatch(expected): IfMatch,
    Json(profile): Json<Profile>,
) -> ApiResult<Tagged<UserView>> {
    // The cached user may be outdated.
    let missing = || ApiError::not_found("person", &caller.user.name);
    let before = web.store().user(&caller.user.id).await?.ok_or_else(missing)?;
    let after = User {
        display_name: profile.display_name.unwrap_or_else(|| before.display_name.clone()),
        email: profile.email.or_else(|| before.email.clone()),
        mails: profile.mails.unwrap_or(before.mails),
        ..before.clone()
    };
    users::change(&web, &caller, &before, after, expected).await
}
