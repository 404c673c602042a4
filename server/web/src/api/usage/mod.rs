//! Usage: what jobs held and used, and what it costs.

mod get;
pub(crate) mod view;

use crate::routes::routes;
use utoipa_axum::router::OpenApiRouter;

use crate::state::Web;

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(get::get))
}
