//! Signing in a command line through a browser (RFC 8628).

mod code;
mod decision;
mod revoke;
mod token;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(code::begin))
        .routes(routes!(token::redeem))
        .routes(routes!(decision::decide))
        .routes(routes!(revoke::revoke))
}
