//! Projects: groups of people who share pipelines, storage and secrets.

mod create;
mod delete;
mod get;
mod list;
pub(crate) mod places;
mod update;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(crate) use view::{KeepingView, ProjectView, SizingWord, visible};

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(get::get, update::update, delete::delete))
        .routes(routes!(places::put))
}
