//! What the workers of a task get by what earlier attempts used: what is known, what is advised, what was changed; taking it
//! back and letting it go on.

mod get;
mod resume;
mod revert;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(crate) use get::shown;

/// The endpoints.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(get::get))
        .routes(routes!(revert::revert))
        .routes(routes!(resume::resume))
}
