//! Volumes of projects, and their files.

mod archive;
mod create;
mod delete;
mod download;
mod files;
mod folder;
mod get;
mod list;
mod preview;
mod remove;
mod update;
mod upload;
pub mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(get::get, update::update, delete::delete))
        .routes(routes!(files::files))
        .routes(routes!(folder::make))
        .routes(routes!(download::download, upload::upload, remove::remove))
        .routes(routes!(preview::preview))
        .routes(routes!(archive::archive))
}
