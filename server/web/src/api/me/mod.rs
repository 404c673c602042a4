//! The calling user: account, password, single sign-on and sessions.

mod end_session;
mod get;
mod password;
mod provider;
mod sessions;
mod update;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::routes::routes;
use crate::state::Web;

pub(crate) use view::{MeView, SessionView};

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(get::get, update::update))
        .routes(routes!(password::password))
        .routes(routes!(provider::connect, provider::disconnect))
        .routes(routes!(sessions::sessions))
        .routes(routes!(end_session::end_session))
}
