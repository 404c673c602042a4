//! One-time links: invitations and password resets.

mod create;
mod list;
mod revoke;
mod use_up;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(crate) use view::LinkView;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(revoke::revoke))
        .routes(routes!(use_up::use_up))
}
