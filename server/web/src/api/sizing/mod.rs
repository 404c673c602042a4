//! Right-sizing of tasks from the usage of earlier attempts: data, recommendations and changes. Reverting to
//! the requested resources, and resuming.

mod get;
mod resume;
mod revert;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(crate) use get::shown;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(get::get))
        .routes(routes!(revert::revert))
        .routes(routes!(resume::resume))
}
