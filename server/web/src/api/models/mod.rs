//! The model registry.

mod aliases;
mod delete;
mod delete_version;
mod get;
mod list;
mod of_run;
mod update;
mod version;
mod versions;
pub mod view;

pub(crate) use get::find;
pub(crate) use list::{ListQuery, models};
pub(crate) use of_run::registered;
pub(crate) use version::find_version;
pub(crate) use versions::version_page;
pub(crate) use view::{ModelVersionView, ModelView};

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list))
        .routes(routes!(get::get, update::update, delete::delete))
        .routes(routes!(versions::versions))
        .routes(routes!(version::version, delete_version::delete_version))
        .routes(routes!(aliases::put_alias, aliases::delete_alias))
        .routes(routes!(of_run::of_run))
}
