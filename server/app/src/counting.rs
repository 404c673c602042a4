//! Accounts for attempts that ended before accounting existed: once, after an upgrade, in the background.

use std::time::Duration;

use cubeloom_store::Store;

/// Attempts per batch: others write in between.
const PART: usize = 500;

/// The pause after each batch, for other users of the database.
const BREATH: Duration = Duration::from_millis(20);

/// The wait before a failed batch is retried.
const LATER: Duration = Duration::from_secs(30);

/// Accounts for them until none remain.
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
                tracing::warn!(%error, "cannot count earlier attempts yet; retrying");
                tokio::time::sleep(LATER).await;
            }
        }
    }
    if counted > 0 {
        tracing::info!(counted, "counted the attempts that ended before accounting existed");
    }
}
