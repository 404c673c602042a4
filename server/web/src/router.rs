//! The router: all routes and their middleware.

use axum::extract::OriginalUri;
use axum::{Router, middleware};

use crate::error::ApiError;
use crate::live::Hub;
use crate::metrics::metrics;
use crate::monitoring;
use crate::routes::get;
use crate::state::Web;
use crate::{alerts, api, archive, assets, audit, guard, limits, pages, schedules};

/// The complete router. Subscribes to the engine's events, and thus needs a runtime.
pub fn router(web: Web) -> Router {
    Hub::start(&web);
    limits::sweep(&web);
    archive::start(&web);
    schedules::start(&web);
    alerts::start(&web);
    audit::start(&web);
    audit::stream::start(&web);
    monitoring::start(&web);
    let (api, document) = api::router().split_for_parts();
    let routes = Router::new()
        .nest("/api/v1", api.merge(api::document::route(document)))
        .merge(pages::router())
        .route("/assets/{*path}", get(assets::get))
        .route("/metrics", get(metrics))
        .route_layer(middleware::from_fn(limits::bound))
        .route_layer(middleware::from_fn_with_state(web.clone(), limits::once))
        .route_layer(middleware::from_fn_with_state(web.clone(), guard::guard))
        .fallback(async |OriginalUri(uri): OriginalUri| ApiError::not_found("page", uri.path()))
        .method_not_allowed_fallback(async || ApiError::no_method());
    limits::around(routes, &web).with_state(web)
}
