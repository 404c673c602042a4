//! Alerts: channels of a project, and deliveries of their messages.

mod create;
mod delete;
mod deliveries;
mod get;
mod list;
mod test;
mod update;
pub(crate) mod view;

use cubeloom_domain::alert::Channel;
use utoipa_axum::router::OpenApiRouter;

use crate::error::{ApiError, ApiResult};
use crate::routes::routes;
use crate::state::Web;

pub(crate) use view::{ChannelView, DeliveryView};

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(list::list, create::create))
        .routes(routes!(get::get, update::update, delete::delete))
        .routes(routes!(test::test))
        .routes(routes!(deliveries::deliveries))
}

/// The channel of a route, which must belong to the route's project.
async fn of_route(web: &Web, (project, id): &(String, String)) -> ApiResult<Channel> {
    let channel = web.store().alert_channel(id).await?.filter(|channel| channel.project == *project);
    channel.ok_or_else(|| ApiError::not_found("alert channel", id))
}
