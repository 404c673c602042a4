//! What clusters' nodes and cards do.

mod card;
mod cluster;
mod fault;
pub mod holders;
mod nodes;
pub mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(cluster::monitoring))
        .routes(routes!(nodes::nodes))
        .routes(routes!(card::gpu))
        .routes(routes!(fault::forget))
        .routes(routes!(holders::holders))
}
