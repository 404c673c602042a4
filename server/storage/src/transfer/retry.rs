//! Retries transient errors, a limited number of times, with exponential backoff.

use std::time::Duration;

use opendal::layers::RetryLayer;

use super::error::TransferError;

/// First delay; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Runs `call` up to `attempts` times, as long as its errors are transient.
pub(crate) async fn retry<T>(
    attempts: u32,
    mut call: impl AsyncFnMut() -> Result<T, TransferError>,
) -> Result<T, TransferError> {
    let mut wait = FIRST_WAIT;
    for _ in 1..attempts {
        match call().await {
            Err(error) if error.is_passing() => tokio::time::sleep(wait).await,
            done => return done,
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
    call().await
}

/// The same for calls that only the store's client can repeat (parts of an upload, pages of a list).
pub(crate) fn layer(attempts: u32) -> RetryLayer {
    RetryLayer::new()
        .with_min_delay(FIRST_WAIT)
        .with_max_delay(LONGEST_WAIT)
        .with_max_times(attempts.saturating_sub(1) as usize)
        .with_jitter()
}
