//! User accounts.

mod create;
mod get;
mod list;
mod update;
mod view;

use cubeloom_domain::identity::User;
use utoipa_axum::router::OpenApiRouter;

use crate::audit;
use crate::auth::{Caller, accounts};
use crate::error::{ApiError, ApiResult};
use crate::etag::{Tagged, changed, etag};
use crate::routes::routes;
use crate::state::Web;

pub(crate) use list::{Wanted, find};
pub(crate) use view::UserView;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(list::list, create::create)).routes(routes!(get::get, update::update))
}

/// The user of a route, by name or id.
///
/// # Errors
/// The user does not exist.
pub(crate) async fn person(web: &Web, text: &str) -> ApiResult<User> {
    if let Some(user) = web.store().user_by_name(text).await? {
        return Ok(user);
    }
    web.store().user(text).await?.ok_or_else(|| ApiError::not_found("person", text))
}

/// Changes an account, if it has the expected revision and is still as in `before`. Unchanged fields may
/// include the administrator flag, which another user may just have changed.
pub(crate) async fn change(
    web: &Web,
    caller: &Caller,
    before: &User,
    mut after: User,
    expected: Option<u64>,
) -> ApiResult<Tagged<UserView>> {
    let problems = accounts::wrong_texts(&after.display_name, after.email.as_deref());
    if !problems.is_empty() {
        return Err(ApiError::invalid(problems));
    }
    accounts::tidy(&mut after);
    let entry = audit::entry(web, caller, "user.update", &after.name);
    let entry = entry.before(accounts::about(before)).after(accounts::about(&after));
    let seen = expected.unwrap_or(before.revision);
    if seen != before.revision {
        return Err(ApiError::stale(&format!("the account of `{}`", after.name), etag(before.revision)));
    }
    let change = web.store().update_user(&after, Some(seen), &entry).await?;
    after.revision = changed(change, "account of", &after.name)?;
    Ok(Tagged(after.revision, after.into()))
}
