//! Clusters: capacity, running and possible jobs, and their administration.

pub mod aside;
pub mod check;
mod create;
mod delete;
mod get;
mod get_settings;
mod give_up;
mod list;
pub mod settings;
mod update;
pub mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(get::get, update::update, delete::delete))
        .routes(routes!(get_settings::get_settings))
        .routes(routes!(check::check))
        .routes(routes!(give_up::give_up))
        .routes(routes!(aside::put, aside::delete))
}
