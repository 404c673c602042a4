//! Tasks of runs, their instances and attempts.

pub mod advice;
mod attempts;
mod decide;
pub mod effective;
mod get;
pub mod hang;
mod history;
pub(crate) mod instances;
mod list;
mod mark;
mod notices;
pub mod preflight;
mod search;
mod suspend;
pub mod usage;
pub mod view;
pub mod why;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list))
        .routes(routes!(get::get))
        .routes(routes!(instances::instances))
        .routes(routes!(search::search))
        .routes(routes!(attempts::attempts))
        .routes(routes!(attempts::all_attempts))
        .routes(routes!(notices::notices))
        .routes(routes!(suspend::suspend))
        .routes(routes!(decide::decide))
        .routes(routes!(mark::mark))
        .routes(routes!(history::history))
        .routes(routes!(usage::usage))
        .routes(routes!(advice::advice))
}
