//! Members of a project and their roles.

mod list;
mod put;
mod remove;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(crate) use view::MemberView;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(list::list)).routes(routes!(put::put, remove::remove))
}
