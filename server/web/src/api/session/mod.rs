//! Signing in and out.

mod begin;
mod end;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

/// The endpoints.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(begin::begin, end::end))
}
