//! Live events.

mod run;
mod runs;
pub mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(run::of_run))
        .routes(routes!(runs::of_all))
        .routes(routes!(runs::of_project))
}
