//! Results of runs: outputs and files.

pub(crate) mod files;
pub(crate) mod list;
pub(crate) mod outputs;
pub mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(outputs::outputs))
        .routes(routes!(list::list))
        .routes(routes!(files::list_files))
        .routes(routes!(files::file))
        .routes(routes!(files::preview))
}
