//! Pipelines: versioned documents.

mod compare;
mod create;
mod delete;
mod export;
mod get;
mod grid;
mod grid_view;
mod list;
mod put;
mod stale;
mod version;
mod versions;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(crate) use compare::{CompareQuery, ComparisonView, compare_versions};
pub(crate) use grid::{GridQuery, grid_of};
pub(crate) use grid_view::{GridCellView, GridTaskView, GridView};
pub(crate) use list::{ListQuery, summaries};
pub(crate) use versions::version_page;
pub(crate) use view::{PipelineSummaryView, RunMark, VersionView};

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(get::get, put::put, delete::delete))
        .routes(routes!(versions::versions))
        .routes(routes!(version::version))
        .routes(routes!(compare::compare))
        .routes(routes!(export::export))
        .routes(routes!(grid::grid))
}
