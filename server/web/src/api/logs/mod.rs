//! Worker logs.

mod download;
mod events;
mod search;
mod streams;
mod text;
pub mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(streams::streams))
        .routes(routes!(text::text))
        .routes(routes!(search::search))
        .routes(routes!(events::events))
        .routes(routes!(download::download))
}
