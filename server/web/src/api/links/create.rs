//! `POST /links`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::identity::Role;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::LinkView;
use crate::api::users::person;
use crate::audit::Act;
use crate::auth::{Caller, links};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;

/// Link to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum WantedLink {
    /// Invitation for a new account, valid for seven days.
    Invite {
        /// Project that the new user becomes a member of.
        project: Option<String>,
        /// Role in the project. Defaults to `editor`.
        #[schema(value_type = Option<String>, pattern = "^(viewer|editor|owner)$")]
        role: Option<Role>,
        /// Whether the new user becomes an administrator of the whole platform.
        #[serde(default)]
        admin: bool,
        /// Note about the recipient.
        #[serde(default)]
        #[schema(max_length = 200)]
        note: String,
    },
    /// Link to set a new password, valid for one day.
    Reset {
        /// User whose password is reset: a name or an ID.
        user: String,
    },
}

/// Created link.
#[derive(Serialize, ToSchema)]
pub struct CreatedLink {
    /// The link itself, shown only once. Anyone who has it can use it, once.
    pub url: String,
    /// Metadata, without the secret.
    #[serde(flatten)]
    pub about: LinkView,
}

/// Creates a one-time link: an invitation, or a link to set a new password.
#[utoipa::path(
    post,
    path = "/links",
    tag = "people",
    request_body = WantedLink,
    responses(
        (status = 201, body = CreatedLink),
        (status = 409, description = "They may not sign in.", body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create(
    State(web): State<Web>,
    caller: Caller,
    Json(wanted): Json<WantedLink>,
) -> ApiResult<(StatusCode, Json<CreatedLink>)> {
    let act = Act::of(&web, &caller);
    let (link, secret) = match wanted {
        WantedLink::Reset { user } => links::reset(&act, &person(&web, &user).await?).await?,
        WantedLink::Invite { project: None, role: Some(_), .. } => {
            return Err(ApiError::field("/project", "name the project for this role"));
        }
        WantedLink::Invite { project, role, admin, note } => {
            let place = project.map(|project| (project, role.unwrap_or(Role::Editor)));
            links::invite(&act, place, admin, &note).await?
        }
    };
    let url = links::url(&web.settings().url, &link, &secret);
    Ok((StatusCode::CREATED, Json(CreatedLink { url, about: link.into() })))
}
