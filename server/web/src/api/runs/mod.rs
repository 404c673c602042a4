//! Runs.

mod again;
mod cancel;
pub(crate) mod compare_many;
pub mod comparison_view;
pub(crate) mod critical_path;
mod delete;
mod get;
mod graph;
pub(crate) mod list;
mod many;
pub(crate) mod objects;
mod plan;
mod rerun;
mod resume;
pub(crate) mod resume_with;
mod start;
pub mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list_all))
        .routes(routes!(list::list, start::start))
        .routes(routes!(compare_many::compare_many))
        .routes(routes!(many::cancel_many))
        .routes(routes!(many::rerun_many))
        .routes(routes!(get::get, delete::delete))
        .routes(routes!(cancel::cancel))
        .routes(routes!(resume::resume))
        .routes(routes!(resume_with::foresee, resume_with::resume_with))
        .routes(routes!(rerun::rerun))
        .routes(routes!(again::again))
        .routes(routes!(plan::plan))
        .routes(routes!(graph::graph))
        .routes(routes!(critical_path::critical_path))
        .routes(routes!(objects::objects))
}
