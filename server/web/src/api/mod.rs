//! The REST API, `/api/v1`. docs/API-DESIGN.md defines its conventions. One endpoint per file.
#![allow(
    unused_qualifications,
    reason = "utoipa::path repeats the types of parameters with a path of its own"
)]

pub(crate) mod alerts;
pub mod artifacts;
pub(crate) mod audit;
pub(crate) mod budgets;
pub(crate) mod clusters;
mod code;
pub mod compare;
pub(crate) mod compile;
mod complete;
mod device;
pub mod document;
pub mod events;
pub(crate) mod forecast;
mod health;
pub(crate) mod hooks;
mod import;
pub(crate) mod limits;
pub(crate) mod links;
pub mod logs;
pub(crate) mod me;
pub(crate) mod members;
pub mod metrics;
pub(crate) mod models;
pub(crate) mod monitoring;
pub(crate) mod pipelines;
pub(crate) mod prices;
pub(crate) mod priority_classes;
pub(crate) mod projects;
pub(crate) mod quotas;
mod ready;
mod registries;
pub mod runs;
pub(crate) mod schedules;
mod schemas;
mod search;
mod secrets;
mod session;
pub(crate) mod sizing;
mod statements;
pub mod tasks;
pub(crate) mod templates;
pub(crate) mod terminals;
pub(crate) mod tokens;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod validate;
mod volumes;

use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::error::{ProblemDocument, ProblemView};
use crate::routes::routes;
use crate::state::Web;

/// Metadata of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    info(title = "Cubeloom", description = "Machine-learning pipelines: documents become distributed jobs."),
    servers((url = "/api/v1")),
    components(schemas(ProblemDocument, ProblemView))
)]
struct About;

/// All endpoints, with their documentation.
pub(crate) fn router() -> OpenApiRouter<Web> {
    OpenApiRouter::with_openapi(About::openapi())
        .routes(routes!(health::health))
        .routes(routes!(ready::ready))
        .merge(projects::routes())
        .merge(members::routes())
        .merge(pipelines::routes())
        .merge(code::routes())
        .merge(runs::routes())
        .merge(tasks::routes())
        .merge(terminals::routes())
        .merge(logs::routes())
        .merge(events::routes())
        .merge(artifacts::routes())
        .merge(metrics::routes())
        .merge(compare::routes())
        .merge(session::routes())
        .merge(me::routes())
        .merge(tokens::routes())
        .merge(users::routes())
        .merge(links::routes())
        .merge(device::routes())
        .merge(audit::routes())
        .merge(secrets::routes())
        .merge(compile::routes())
        .merge(forecast::routes())
        .merge(hooks::routes())
        .merge(schedules::routes())
        .merge(sizing::routes())
        .merge(alerts::routes())
        .merge(schemas::routes())
        .merge(templates::routes())
        .merge(validate::routes())
        .merge(import::routes())
        .merge(volumes::routes())
        .merge(registries::routes())
        .merge(models::routes())
        .merge(search::routes())
        .merge(clusters::routes())
        .merge(monitoring::routes())
        .merge(quotas::routes())
        .merge(limits::routes())
        .merge(priority_classes::routes())
        .merge(usage::routes())
        .merge(prices::routes())
        .merge(budgets::routes())
        .merge(statements::routes())
}
