//! Concurrency limits: how many tasks can hold one at a time, and start with it per minute.

mod list;
mod one;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(list::list)).routes(routes!(one::get, one::put, one::delete))
}
