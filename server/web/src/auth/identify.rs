//! Whose request is it?

use axum::http::HeaderValue;
use axum::http::request::Parts;

use super::{Caller, of_client, session, tokens};
use crate::error::ApiResult;
use crate::state::Web;

/// Who sent this request, `None` when it carries nothing that says so; and the cookie that its answer sets. A token
/// goes over a cookie: whoever sends one means it.
pub(crate) async fn identify(web: &Web, parts: &Parts) -> ApiResult<Option<(Caller, Option<HeaderValue>)>> {
    let address = of_client(web, parts);
    if let Some(caller) = tokens::caller(web, &parts.headers, address.clone()).await? {
        return Ok(Some((caller, None)));
    }
    session::caller(web, parts, address).await
}
