//! Pages: askama templates from `/templates`, one page per file.

mod alerts;
mod api_docs;
mod asked_for;
mod audit;
mod calendar;
mod card;
mod cluster;
mod cluster_nodes;
mod clusters;
mod compared;
mod crumbs;
mod date_sign;
mod device;
mod diff;
mod error;
mod frame;
mod gpu_history;
mod holders;
mod home;
mod import;
mod link;
mod me;
mod models;
mod new_pipeline;
mod oidc;
pub(crate) mod pipeline;
mod pipeline_compare;
mod pipeline_editor;
mod pipelines;
mod preferences;
mod project;
mod projects;
mod quotas;
pub(crate) mod run;
mod run_compare;
pub(crate) mod runs;
mod runs_compare;
pub(crate) mod secrets;
mod sign_in;
mod sizing;
mod statement;
mod storage;
mod template;
mod templates;
mod usage;
mod users;
mod zone;

use axum::Router;
use axum::response::{Html, IntoResponse, Redirect, Response};

pub(crate) use error::error;
pub(crate) use frame::Frame;

use crate::error::ApiError;
use crate::routes::{get, post};
use crate::state::Web;

/// Routes of all pages.
pub(crate) fn router() -> Router<Web> {
    Router::new()
        .route("/sign-in", get(sign_in::show).merge(post(sign_in::submit)))
        .route("/sign-in/oidc", get(oidc::begin))
        .route("/sign-in/oidc/callback", get(oidc::finish))
        .route("/welcome", get(link::show).merge(post(link::submit)))
        .route("/link", get(link::show).merge(post(link::submit)))
        .route("/device", get(device::show).merge(post(device::submit)))
        .route("/projects/{project}/runs", get(runs::page))
        .route("/runs/{run}", get(run::page))
        .route("/runs/{run}/tasks/{task}", get(run::task::page))
        .route("/", get(home::show))
        .route("/docs/api", get(api_docs::list))
        .route("/docs/api/{operation}", get(api_docs::show))
        .route("/projects/{project}/secrets", get(secrets::page))
        .route("/projects/{project}/alerts", get(alerts::page))
        .route("/projects/{project}/storage", get(storage::page))
        .route("/projects/{project}/calendar", get(calendar::show))
        .route("/projects/{project}/models", get(models::list))
        .route("/projects/{project}/models/{model}", get(models::model))
        .route("/projects/{project}/models/{model}/versions/{version}", get(models::version))
        .route("/clusters", get(clusters::page))
        .route("/clusters/{cluster}", get(cluster::page))
        .route("/clusters/{cluster}/nodes", get(cluster_nodes::page))
        .route("/clusters/{cluster}/gpus/{gpu}", get(card::page))
        .route("/clusters/{cluster}/gpu-history", get(gpu_history::page))
        .route("/holders", get(holders::page))
        .route("/quotas", get(quotas::page))
        .route("/usage", get(usage::page))
        .route("/projects/{project}/statements/{month}", get(statement::page))
        .route("/me", get(me::show))
        .route("/users", get(users::show))
        .route("/audit", get(audit::show))
        .route("/projects/{project}/audit", get(audit::of_project))
        .route("/preferences", post(preferences::set))
        .route("/runs/{run}/compare", get(run_compare::page))
        .route("/projects/{project}/compare", get(runs_compare::page))
        .route("/projects", get(projects::show))
        .route("/projects/{project}", get(project::show))
        .route("/projects/{project}/pipelines", get(pipelines::show))
        .route("/projects/{project}/new-pipeline", get(new_pipeline::show))
        .route("/projects/{project}/import", get(import::show))
        .route("/projects/{project}/new-pipeline/canvas", get(pipeline_editor::empty))
        .route("/projects/{project}/pipelines/{pipeline}", get(pipeline::show))
        .route("/projects/{project}/pipelines/{pipeline}/edit", get(pipeline_editor::show))
        .route("/projects/{project}/pipelines/{pipeline}/compare", get(pipeline_compare::show))
        .route("/projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing", get(sizing::show))
        .route("/templates", get(templates::show))
        .route("/templates/{template}", get(template::show))
}

/// A response with the rendered template.
pub(crate) fn html(template: &impl askama::Template) -> Result<Response, ApiError> {
    let text = template.render().map_err(ApiError::internal)?;
    Ok(Html(text).into_response())
}

/// Text key of a run's trigger.
pub(crate) fn trigger_key(trigger: &str) -> &'static str {
    match trigger {
        "schedule" => "schedule.trigger-schedule",
        "backfill" => "schedule.trigger-backfill",
        "hook" => "schedule.trigger-hook",
        "task" => "schedule.trigger-task",
        "pipeline" => "schedule.trigger-pipeline",
        "file" => "schedule.trigger-file",
        _ => "schedule.trigger-person",
    }
}

/// Data of a page's script, for `<script type="application/json">`. Escapes `<`, so that it cannot close the
/// element.
pub(crate) fn carried(value: &impl serde::Serialize) -> Result<String, ApiError> {
    let text = serde_json::to_string(value).map_err(ApiError::internal)?;
    Ok(text.replace('<', "\\u003c"))
}

/// Redirects to the sign-in page, which returns to `here`.
pub(crate) fn to_sign_in(here: &str) -> Response {
    let next = percent_encoding::utf8_percent_encode(here, percent_encoding::NON_ALPHANUMERIC);
    Redirect::to(&format!("/sign-in?next={next}")).into_response()
}

/// A path with a query. Pairs without a value are omitted.
pub(crate) fn with_query(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs.iter().filter(|(_, value)| !value.is_empty()));
    let query = query.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}
