//! `GET /prices`

use axum::extract::State;

use super::view::PriceView;
use crate::accounting::today;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Query};
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// Lists all prices by cluster and node group.
///
/// The newest price of each cluster or node group comes last. The earlier ones are the price history.
#[utoipa::path(
    get,
    path = "/prices",
    tag = "accounting",
    params(PageQuery),
    responses(
        (status = 200, body = Page<PriceView>),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<PriceView>>> {
    let today = today(&web);
    let mut prices: Vec<PriceView> =
        web.store().prices().await?.into_iter().map(|price| PriceView::new(price, today)).collect();
    prices.sort_by_key(place);
    Ok(Json(Page::cut(prices, &query, place)?))
}

/// Position of a price in the list.
fn place(price: &PriceView) -> String {
    let group = price.node_group.as_deref().unwrap_or_default();
    format!("{}/{group} {}", price.cluster, price.valid_from)
}
