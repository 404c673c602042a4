//! Reads and discards the rest of a body whose request was refused. Closing a connection with unread bytes
//! resets it: a client that still sends would get the reset instead of the response.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use futures::{StreamExt, stream};
use tokio::time::timeout;

/// Maximum bytes to discard, and the time limit.
const MOST: usize = 8 << 20;
const TIME: Duration = Duration::from_secs(5);

/// A body that can be taken back from its reader.
#[derive(Clone)]
struct Lent(Arc<Mutex<Option<BodyDataStream>>>);

pub(crate) async fn drain(request: Request, next: Next) -> Response {
    // With `Expect`, the client has sent nothing yet. Polling the body would request it.
    if request.body().is_end_stream() || request.headers().contains_key(header::EXPECT) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let lent = Lent(Arc::new(Mutex::new(Some(body.into_data_stream()))));
    let reader = lent.clone();
    let body = Body::from_stream(stream::poll_fn(move |context| reader.poll(context)));
    let response = next.run(Request::from_parts(parts, body)).await;
    if (response.status().is_client_error() || response.status().is_server_error())
        && let Some(left) = lent.take_back()
    {
        let _ = timeout(TIME, throw_away(left)).await;
    }
    response
}

impl Lent {
    fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, axum::Error>>> {
        let mut body = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(inner) = body.as_mut() else { return Poll::Ready(None) };
        let polled = inner.poll_next_unpin(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            *body = None;
        }
        polled
    }

    /// The unread rest of the body.
    fn take_back(&self) -> Option<BodyDataStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

async fn throw_away(mut body: BodyDataStream) {
    let mut left = MOST;
    while let Some(Ok(piece)) = body.next().await {
        match left.checked_sub(piece.len()) {
            Some(less) => left = less,
            None => return,
        }
    }
}
