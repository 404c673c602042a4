//! Sign-in and sign-out.

mod begin;
mod end;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(begin::begin, end::end))
}
