//! Metrics of clusters' nodes and GPUs.

mod card;
mod cluster;
mod fault;
pub mod holders;
mod nodes;
pub mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(cluster::monitoring))
        .routes(routes!(nodes::nodes))
        .routes(routes!(card::gpu))
        .routes(routes!(fault::forget))
        .routes(routes!(holders::holders))
}
