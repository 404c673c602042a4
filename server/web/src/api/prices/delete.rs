//! `DELETE /prices/{price}`

use axum::extract::State;
use axum::http::StatusCode;

use super::view::{audited, find_open, subject};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, changed};
use crate::extract::Path;
use crate::state::Web;

/// Deletes a price that took effect this month or takes effect later.
///
/// The previous price becomes valid again.
#[utoipa::path(
    delete,
    path = "/prices/{price}",
    tag = "accounting",
    params(("price" = String, Path), ("If-Match" = String, Header)),
    responses(
        (status = 204),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn delete(
    State(web): State<Web>,
    caller: Caller,
    Path(id): Path<String>,
    IfMatch(expected): IfMatch,
) -> ApiResult<StatusCode> {
    let price = find_open(&web, &id).await?;
    let entry = audit::entry(&web, &caller, "price.delete", subject(&price)).before(audited(&price));
    changed(web.store().delete_price(&price, expected, &entry).await?, "price", &id)?;
    Ok(StatusCode::NO_CONTENT)
}
