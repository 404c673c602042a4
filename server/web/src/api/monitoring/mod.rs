//! Metrics of clusters' nodes and GPUs.

mod card;
mod cluster;
mod fault;
mod gpu_history;
pub mod gpu_view;
pub mod holders;
mod idle_gpus;
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
        .routes(routes!(gpu_history::gpu_history))
        .routes(routes!(idle_gpus::idle_gpus))
}
