//! `GET /projects/{project}/alert-deliveries`

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::DeliveryView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Filters of messages.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeliveryQuery {
    /// Only messages of the channel, or to the user, with this ID.
    pub channel: Option<String>,
    /// Number of items, from 1 to 200. Defaults to 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Lists the messages of the project's channels and the emails to the owners of the affected runs, newest first. Each
/// entry has the delivery state and the receiver's response. Messages are kept for 30 days.
#[utoipa::path(
    get,
    path = "/projects/{project}/alert-deliveries",
    tag = "alerts",
    params(("project" = String, Path), DeliveryQuery),
    responses(
        (status = 200, body = Page<DeliveryView>),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn deliveries(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(query): Query<DeliveryQuery>,
) -> ApiResult<Json<Page<DeliveryView>>> {
    let page = PageQuery { limit: query.limit, cursor: query.cursor };
    let (limit, before) = (page.limit()?, page.after()?);
    let store = web.store();
    let found =
        store.alert_deliveries(&project, query.channel.as_deref(), before.as_deref(), limit + 1).await?;
    let page = Page::of(found, limit, |delivery| delivery.id.clone());
    Ok(Json(page.map(DeliveryView::from)))
}
