//! Code folders of pipelines.

mod file;
mod folders;
mod list;
mod upload;

use axum::extract::DefaultBodyLimit;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        // The upload limits its body itself while receiving it.
        .routes(routes!(upload::upload).layer(DefaultBodyLimit::disable()))
        .routes(routes!(folders::folders))
        .routes(routes!(list::list))
        .routes(routes!(file::file))
}
