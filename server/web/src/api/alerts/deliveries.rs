//! `GET /projects/{project}/alert-deliveries`

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::DeliveryView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Which messages are wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeliveryQuery {
    /// Only of the channel of this id, or to the person of this id.
    pub channel: Option<String>,
    /// How many items, from 1 to 200; 50 when absent.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Messages of the project's channels, and mails to the people whose runs they are about, the newest first: what became of
/// each, and what its receiver said. They are kept for 30 days.
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
