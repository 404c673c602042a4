//! Members of a project, and what they may do there.

mod list;
mod put;
mod remove;
mod view;

use cubeloom_domain::identity::User;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error::{ApiError, ApiResult};
use crate::state::Web;

pub(crate) use view::MemberView;

/// The endpoints.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(list::list)).routes(routes!(put::put, remove::remove))
}

/// The person of a route: by the name that they sign in with, or by id.
async fn person(web: &Web, text: &str) -> ApiResult<User> {
    if let Some(user) = web.store().user_by_name(text).await? {
        return Ok(user);
    }
    web.store().user(text).await?.ok_or_else(|| ApiError::not_found("person", text))
}
