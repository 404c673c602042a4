//! Usage: allocations and usage of jobs, and their cost.

mod get;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(get::get))
}
