//! Secrets of projects and users. Values are write-only.

mod create;
mod delete;
mod get;
mod list;
mod update;
pub mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(crate) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::of_project, create::in_project))
        .routes(routes!(get::of_project, update::in_project, delete::in_project))
        .routes(routes!(list::own, create::own))
        .routes(routes!(get::own, update::own, delete::own))
}
