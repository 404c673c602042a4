//! Follows logs while they are written.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use cubeloom_domain::logs::LogName;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::source::Told;
use super::{Chosen, Cursor};
use crate::api::logs::view::LogChunk;
use crate::error::ApiResult;
use crate::live::stream::named;

/// Poll interval of logs that were just written to.
const SOON: Duration = Duration::from_millis(200);
/// Poll interval of other logs.
const LATER: Duration = Duration::from_secs(1);
/// How long an incomplete line waits for its end.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum size of one read, in bytes.
const BLOCK: usize = 256 << 10;

pub(crate) struct Follow {
    chosen: Chosen,
    cursor: Cursor,
    /// Chunks to send, the last one first, each with the cursor after it.
    ready: Vec<(LogChunk, String)>,
    /// Incomplete lines: length of the stream, and since when it has not grown.
    held: HashMap<LogName, (u64, Instant)>,
    pace: Duration,
    /// Whether the logs are complete.
    ended: bool,
    over: bool,
}

impl Follow {
    /// Starts at a cursor of the attempt.
    pub(crate) fn new(chosen: Chosen, cursor: Cursor) -> Self {
        let (ready, held) = (Vec::new(), HashMap::new());
        Self { chosen, cursor, ready, held, pace: Duration::ZERO, ended: false, over: false }
    }

    /// The next event. `None` after the last one. Cancel safe.
    pub(crate) async fn next(&mut self) -> ApiResult<Option<Bytes>> {
        loop {
            if let Some((chunk, cursor)) = self.ready.pop() {
                return Ok(Some(named("log", &chunk, &cursor)));
            }
            if self.over {
                return Ok(None);
            }
            if self.ended {
                self.over = true;
                let end = json!({"attempt": self.chosen.key.n});
                return Ok(Some(named("end", &end, &self.cursor.encode())));
            }
            sleep(self.pace).await;
            self.look().await?;
        }
    }

    async fn look(&mut self) -> ApiResult<()> {
        if self.chosen.key.n == 0 {
            self.chosen.take_last().await?;
            self.cursor.attempt = self.chosen.key.n;
        }
        // Check before reading, so that everything up to the end is read.
        let over = self.chosen.has_ended().await?;
        let (held, mut cursor) = (&self.held, self.cursor.clone());
        let impatient =
            |name: &LogName| over || held.get(name).is_some_and(|(_, since)| since.elapsed() >= PATIENCE);
        let read = self.chosen.read_on(&mut cursor, BLOCK, impatient).await?;
        // No await from here on: before this point, cancelling changes nothing.
        let now = Instant::now();
        let known = std::mem::take(&mut self.held);
        for (name, length) in read.left {
            let since = known.get(&name).filter(|(had, _)| *had == length).map_or(now, |(_, since)| *since);
            self.held.insert(name, (length, since));
        }
        self.ended = over && !read.full;
        self.pace = match read.told.is_empty() {
            true if self.held.is_empty() => LATER.min(self.pace + SOON),
            true => SOON,
            false if read.full => Duration::ZERO,
            false => SOON,
        };
        self.ready = with_cursors(std::mem::replace(&mut self.cursor, cursor), read.told);
        Ok(())
    }
}

/// Each chunk with the cursor after it, the last one first.
fn with_cursors(mut cursor: Cursor, told: Vec<Told>) -> Vec<(LogChunk, String)> {
    let after = |Told { chunk, name, next }| {
        cursor.offsets.insert(name, next);
        (chunk, cursor.encode())
    };
    let mut ready: Vec<(LogChunk, String)> = told.into_iter().map(after).collect();
    ready.reverse();
    ready
}
