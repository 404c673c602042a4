//! Prices of node groups, each valid from a day on.

mod create;
mod delete;
mod get;
mod list;
mod update;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(list::list, create::create)).routes(routes!(
        get::get,
        update::update,
        delete::delete
    ))
}
