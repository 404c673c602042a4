//! Quotas: guarantees and limits of groups and projects on clusters and node groups.

mod changes;
mod group;
pub(crate) mod history;
mod list;
mod preview;
mod project;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

/// Maximum number of edits in a request.
const MOST: usize = 20;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list))
        .routes(routes!(preview::preview))
        .routes(routes!(changes::change))
        .routes(routes!(history::history))
        .routes(routes!(history::of_project))
        .routes(routes!(group::get_group, group::put_group, group::delete_group))
        .routes(routes!(project::get_project, project::put_project, project::delete_project))
}
