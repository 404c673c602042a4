//! `PUT /prices/{price}`

use axum::extract::State;
use cubeloom_domain::accounting::Price;

use super::view::{PriceChange, PriceView, RatesBody, audited, find_open, subject};
use crate::accounting::today;
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Updates the hourly rates of a price that took effect this month or takes effect later.
///
/// The cost of everything that ran since then is recalculated.
#[utoipa::path(
    put,
    path = "/prices/{price}",
    tag = "accounting",
    params(("price" = String, Path), ("If-Match" = String, Header)),
    request_body = PriceChange,
    responses(
        (status = 200, body = PriceView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn update(
    State(web): State<Web>,
    caller: Caller,
    Path(id): Path<String>,
    IfMatch(expected): IfMatch,
    Json(change): Json<PriceChange>,
) -> ApiResult<Tagged<PriceView>> {
    let before = find_open(&web, &id).await?;
    let mut found = Found::default();
    let PriceChange { cpu_hour, memory_gib_hour, gpu_hour } = change;
    let rates = RatesBody { cpu_hour, memory_gib_hour, gpu_hour }.read(&mut found);
    found.refuse()?;
    let price = Price { rates, user: caller.user.name.clone(), ..before.clone() };
    let entry = audit::entry(&web, &caller, "price.update", subject(&price));
    let entry = entry.before(audited(&before)).after(audited(&price));
    let revision = changed(web.store().update_price(&price, expected, &entry).await?, "price", &id)?;
    Ok(Tagged(revision, PriceView::new(Price { revision, ..price }, today(&web))))
}
