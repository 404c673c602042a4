//! Counts the attempts that ended before there was accounting: once, after an upgrade, beside the work of the day.

use std::time::Duration;

use cubeloom_store::Store;

/// Attempts at a time: others write in between.
const PART: usize = 500;

/// How long the database is left to others after each part.
const BREATH: Duration = Duration::from_millis(20);

/// How long it is before a part that was refused is tried again.
const LATER: Duration = Duration::from_secs(30);

/// Counts them, until there are no more.
pub async fn earlier(store: Store) {
    let mut counted = 0;
    loop {
        match store.count_earlier(PART).await {
            Ok(0) => break,
            Ok(part) => {
                counted += part;
                tokio::time::sleep(BREATH).await;
            }
            Err(error) => {
                tracing::warn!(%error, "attempts of before cannot be counted yet");
                tokio::time::sleep(LATER).await;
            }
        }
    }
    if counted > 0 {
        tracing::info!(counted, "attempts that ended before there was accounting are counted");
    }
}
