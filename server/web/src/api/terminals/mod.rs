//! Terminals for failed tasks.

mod close;
mod connect;
mod open;
pub mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(open::open))
        .routes(routes!(connect::connect))
        .routes(routes!(close::close))
}
