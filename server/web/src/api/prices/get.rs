//! `GET /prices/{price}`

use axum::extract::State;

use super::view::{PriceView, find};
use crate::accounting::today;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::Path;
use crate::state::Web;

/// Gets a price.
#[utoipa::path(
    get,
    path = "/prices/{price}",
    tag = "accounting",
    params(("price" = String, Path)),
    responses(
        (status = 200, body = PriceView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(State(web): State<Web>, Path(id): Path<String>) -> ApiResult<Tagged<PriceView>> {
    let price = find(&web, &id).await?;
    Ok(Tagged(price.revision, PriceView::new(price, today(&web))))
}
