//! API tokens.

mod create;
mod list;
mod of_user;
mod revoke;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(crate) use view::TokenView;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(revoke::revoke))
        .routes(routes!(of_user::of_user))
}
