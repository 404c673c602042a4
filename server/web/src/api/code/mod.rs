//! Folders of code that go with pipelines.

mod file;
mod folders;
mod list;
mod upload;

use axum::extract::DefaultBodyLimit;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};

use crate::routes::routes;
use crate::state::Web;

/// The endpoints.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        // The upload counts for itself, while the body comes in.
        .routes(routes!(upload::upload).layer(DefaultBodyLimit::disable()))
        .routes(routes!(folders::folders))
        .routes(routes!(list::list))
        .routes(routes!(file::file))
}
