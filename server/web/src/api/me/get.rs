//! `GET /me`

use axum::response::IntoResponse;
use axum::response::Response;

use super::MeView;
use crate::auth::Caller;
use crate::etag::Tagged;

/// Returns your account and how you authenticated.
#[utoipa::path(
    get,
    path = "/me",
    tag = "people",
    responses((status = 200, body = MeView, headers(("ETag" = String))))
)]
pub(crate) async fn get(caller: Caller) -> Response {
    Tagged(caller.user.revision, MeView::from(&caller)).into_response()
}
