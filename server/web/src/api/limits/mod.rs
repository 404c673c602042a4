//! Limits that tasks name: how many may hold one at once, and be started with it in a minute.

mod list;
mod one;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

/// The endpoints.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(list::list)).routes(routes!(one::get, one::put, one::delete))
}
