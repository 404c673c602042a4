//! No request takes for ever: a handler that has no answer after a minute is given up. Answers that flow for long, such
//! as events, have begun by then; uploads may take as long as their sender does.

use std::time::Duration;

use axum::extract::Request;
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;

const LONGEST: Duration = Duration::from_secs(60);

/// The middleware.
pub(crate) async fn bound(request: Request, next: Next) -> Response {
    let upload = request.method() == Method::PUT;
    let work = next.run(request);
    if upload {
        return work.await;
    }
    tokio::time::timeout(LONGEST, work).await.unwrap_or_else(|_| {
        ApiError::unavailable("it took longer than a minute and was given up: try again").into_response()
    })
}
