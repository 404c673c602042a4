//! Signing in and out.

mod begin;
mod end;

use crate::routes::routes;
use utoipa_axum::router::OpenApiRouter;

use crate::state::Web;

/// The endpoints.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(begin::begin, end::end))
}
