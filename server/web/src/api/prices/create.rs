//! `POST /prices`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::accounting::{BadDay, Day, Price};

use super::view::{NewPrice, PriceView, RatesBody, audited, subject};
use crate::accounting::today;
use crate::audit;
use crate::auth::{Caller, secret};
use crate::check::Found;
use crate::error::{ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::Json;
use crate::state::Web;

/// Creates a price.
///
/// If the price takes effect earlier in this month, the cost of everything that ran since then is recalculated.
#[utoipa::path(
    post,
    path = "/prices",
    tag = "accounting",
    request_body = NewPrice,
    responses(
        (status = 201, body = PriceView, headers(("ETag" = String))),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create(
    State(web): State<Web>,
    caller: Caller,
    Json(new): Json<NewPrice>,
) -> ApiResult<(StatusCode, Tagged<PriceView>)> {
    let price = read(&web, &caller, new)?;
    let entry = audit::entry(&web, &caller, "price.create", subject(&price)).after(audited(&price));
    web.store().create_price(&price, &entry).await?;
    Ok((StatusCode::CREATED, Tagged(1, PriceView::new(price, today(&web)))))
}

fn read(web: &Web, caller: &Caller, new: NewPrice) -> ApiResult<Price> {
    let NewPrice { cluster, node_group, valid_from, cpu_hour, memory_gib_hour, gpu_hour } = new;
    let (mut found, today) = (Found::default(), today(web));
    if web.clusters().get(&cluster).is_none() {
        found.wrong("/cluster", format!("there is no cluster `{cluster}`"));
    }
    let node_group = node_group.unwrap_or_default();
    if !node_group.is_empty() {
        found.name("/node_group", &node_group, 63);
    }
    let from = match valid_from.filter(|text| !text.is_empty()).map(|text| text.parse::<Day>()) {
        None => today,
        Some(Ok(day)) => day,
        Some(Err(error)) => {
            let error: BadDay = error;
            found.wrong("/valid_from", error.to_string());
            today
        }
    };
    if from.month() < today.month() {
        let message =
            format!("{} is over, and its statements are final: begin this month or later", from.month());
        found.wrong("/valid_from", message);
    }
    let rates = RatesBody { cpu_hour, memory_gib_hour, gpu_hour }.read(&mut found);
    found.refuse()?;
    let id = secret::new_id(web.now());
    Ok(Price { id, cluster, node_group, from, rates, user: caller.user.name.clone(), revision: 1 })
}
