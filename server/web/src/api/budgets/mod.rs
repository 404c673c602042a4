//! Monthly budgets of projects.

mod current;
mod delete;
mod list;
mod put;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list))
        .routes(routes!(current::current))
        .routes(routes!(put::put, delete::delete))
}
