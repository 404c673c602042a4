//! Task templates: what pipelines are made of.

mod get;
mod install;
mod list;
mod version;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(crate) use list::{TemplateQuery, found};
pub(crate) use version::detail;
pub(crate) use view::{TemplateRoleView, TemplateSummaryView, TemplateView, TextView};

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list, install::install))
        .routes(routes!(get::get))
        .routes(routes!(version::version))
}
