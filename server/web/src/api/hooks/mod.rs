//! Hooks: URLs that start a pipeline.

mod create;
mod delete;
mod fire;
mod list;
mod update;
mod view;

use cubeloom_domain::belongings::Hook;
use utoipa_axum::router::OpenApiRouter;

use crate::error::{ApiError, ApiResult};
use crate::routes::routes;
use crate::state::Web;

pub(crate) use view::HookView;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(update::update, delete::delete))
        .routes(routes!(fire::fire))
}

/// Path parameters of a hook.
type Names = (String, String, String);

/// The hook of a route, which must belong to the route's pipeline.
async fn of_route(web: &Web, (project, pipeline, id): &Names) -> ApiResult<Hook> {
    let hook = web.store().hook(id).await?;
    let hook = hook.filter(|hook| hook.project == *project && hook.pipeline == *pipeline);
    hook.ok_or_else(|| ApiError::not_found("hook", id))
}
