//! Request timeouts: a handler without a response after a minute is cancelled. Streaming responses, such as
//! events, have started by then. An upload may take longer while it makes progress.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};
use tokio::time::{Instant, sleep_until};

use crate::error::{ApiError, Kind};

const LONGEST: Duration = Duration::from_secs(60);

/// Minimum speed of an upload.
const UPLOAD: Pace = Pace { window: LONGEST, least: 64 << 10, after: Duration::from_secs(10 * 60) };

/// Minimum speed of a request body.
#[derive(Clone, Copy)]
struct Pace {
    /// In each window of this length,
    window: Duration,
    /// at least this many bytes must arrive, unless the body ends.
    least: u64,
    /// Timeout for the response once the body is complete: large files are synced to disk then.
    after: Duration,
}

pub(crate) async fn bound(request: Request, next: Next) -> Response {
    if request.method() == Method::PUT {
        let (parts, body) = request.into_parts();
        let (body, flow) = counted(body);
        let work = next.run(Request::from_parts(parts, body));
        return within(work, &flow, UPLOAD).await;
    }
    let answer = tokio::time::timeout(LONGEST, next.run(request)).await;
    answer.unwrap_or_else(|_| too_long("a minute").into_response())
}

fn too_long(than: &str) -> ApiError {
    ApiError::unavailable(format!("the request took longer than {than} and was cancelled: try again"))
}

/// Runs `work` while the body arrives fast enough. Time in which the handler does not read it does not count.
async fn within(work: impl Future<Output = Response>, flow: &Flow, pace: Pace) -> Response {
    tokio::pin!(work);
    let (mut seen, mut end) = (0, Instant::now() + pace.window);
    loop {
        tokio::select! {
            biased;
            answer = &mut work => return answer,
            () = sleep_until(end) => {}
        }
        if flow.ended.load(Ordering::Acquire) {
            break;
        }
        let come = flow.bytes.load(Ordering::Acquire);
        if flow.waiting.load(Ordering::Acquire) && come - seen < pace.least {
            let detail = "the upload was too slow and was cancelled: nothing was written; send it again";
            return ApiError::new(Kind::TooSlow, detail).into_response();
        }
        (seen, end) = (come, Instant::now() + pace.window);
    }
    let answer = tokio::time::timeout(pace.after, work).await;
    answer.unwrap_or_else(|_| too_long("ten minutes after the upload ended").into_response())
}

/// Progress of a body.
#[derive(Default)]
struct Flow {
    bytes: AtomicU64,
    /// Whether the reader waits for more.
    waiting: AtomicBool,
    ended: AtomicBool,
}

/// A body that counts its bytes.
struct Counted {
    body: BodyDataStream,
    flow: Arc<Flow>,
}

fn counted(body: Body) -> (Body, Arc<Flow>) {
    let flow = Arc::<Flow>::default();
    flow.ended.store(body.is_end_stream(), Ordering::Release);
    let counted = Counted { body: body.into_data_stream(), flow: Arc::clone(&flow) };
    (Body::from_stream(counted), flow)
}

impl Stream for Counted {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.body.poll_next_unpin(context);
        self.flow.waiting.store(polled.is_pending(), Ordering::Release);
        let found = ready!(polled);
        match &found {
            Some(Ok(piece)) => {
                self.flow.bytes.fetch_add(piece.len() as u64, Ordering::AcqRel);
            }
            Some(Err(_)) | None => self.flow.ended.store(true, Ordering::Release),
        }
        Poll::Ready(found)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use futures::stream;

    use super::*;

    const PACE: Pace = Pace { window: moments(60), least: 1000, after: moments(600) };

    /// Unit of time in these tests, shorter than a second.
    const fn moments(count: u64) -> Duration {
        Duration::from_millis(10 * count)
    }

    /// A body of `pieces` chunks of `bytes`, one every `every` moments.
    fn flowing(bytes: usize, every: u64, pieces: usize) -> Body {
        Body::from_stream(stream::unfold(0, move |n| async move {
            tokio::time::sleep(moments(every)).await;
            (n < pieces).then(|| (Ok::<_, axum::Error>(Bytes::from(vec![0; bytes])), n + 1))
        }))
    }

    /// Response of a handler that reads the whole body, rests after each chunk, and then works.
    async fn sent(body: Body, rest: u64, work: u64) -> (StatusCode, Duration) {
        let start = Instant::now();
        let (body, flow) = counted(body);
        let handler = async move {
            let mut body = body.into_data_stream();
            while let Some(Ok(_)) = body.next().await {
                tokio::time::sleep(moments(rest)).await;
            }
            tokio::time::sleep(moments(work)).await;
            StatusCode::NO_CONTENT.into_response()
        };
        let answer = within(handler, &flow, PACE).await;
        (answer.status(), start.elapsed())
    }

    #[tokio::test]
    async fn what_keeps_coming_may_take_long() {
        let (status, took) = sent(flowing(2000, 20, 12), 0, 0).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
        assert!(took > moments(180), "{took:?}");
    }

    #[tokio::test]
    async fn what_trickles_or_stops_is_given_up() {
        for body in [flowing(1, 1, 100_000), flowing(5000, 200, 10), flowing(1, 100_000, 1)] {
            assert_eq!(sent(body, 0, 0).await.0, StatusCode::REQUEST_TIMEOUT);
        }
    }

    #[tokio::test]
    async fn a_sender_is_not_blamed_for_a_slow_reader_nor_for_what_comes_after() {
        assert_eq!(sent(flowing(1, 0, 2), 100, 0).await.0, StatusCode::NO_CONTENT);
        assert_eq!(sent(flowing(1, 0, 2), 0, 150).await.0, StatusCode::NO_CONTENT);
        assert_eq!(sent(Body::empty(), 0, 70).await.0, StatusCode::NO_CONTENT);
        assert_eq!(sent(Body::empty(), 0, 7000).await.0, StatusCode::SERVICE_UNAVAILABLE);
    }
}
