//! Identifies the user of a request.

use axum::http::HeaderValue;
use axum::http::request::Parts;

use super::{Caller, of_client, session, tokens};
use crate::error::ApiResult;
use crate::state::Web;

/// The caller of a request, and the cookie for its response. `None` without credentials. A token takes
/// precedence over a cookie.
pub(crate) async fn identify(web: &Web, parts: &Parts) -> ApiResult<Option<(Caller, Option<HeaderValue>)>> {
    let address = of_client(web, parts);
    if let Some(caller) = tokens::caller(web, &parts.headers, address.clone()).await? {
        return Ok(Some((caller, None)));
    }
    session::caller(web, parts, address).await
}
