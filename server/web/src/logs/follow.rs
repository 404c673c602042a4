//! Following logs while they are written.

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

/// How often logs are looked at that something was just written to.
const SOON: Duration = Duration::from_millis(200);
/// How often others are.
const LATER: Duration = Duration::from_secs(1);
/// How long a line that has not ended waits for its end.
const PATIENCE: Duration = Duration::from_secs(1);
/// How much is read at once.
const BLOCK: usize = 256 << 10;

/// Logs being followed.
pub(crate) struct Follow {
    chosen: Chosen,
    cursor: Cursor,
    /// Pieces that are yet to be sent, the last one first, each with where its reader goes on.
    ready: Vec<(LogChunk, String)>,
    /// Lines that have not ended, by the length that their streams had, and since when.
    held: HashMap<LogName, (u64, Instant)>,
    pace: Duration,
    /// Nothing will be written any more.
    ended: bool,
    over: bool,
}

impl Follow {
    /// From a cursor of the chosen attempt.
    pub(crate) fn new(chosen: Chosen, cursor: Cursor) -> Self {
        let (ready, held) = (Vec::new(), HashMap::new());
        Self { chosen, cursor, ready, held, pace: Duration::ZERO, ended: false, over: false }
    }

    /// The next event; `None` after the last one. Given up half-way, it loses nothing.
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
        // Asked before the reading: what is written until the end is then read.
        let over = self.chosen.has_ended().await?;
        let (held, mut cursor) = (&self.held, self.cursor.clone());
        let impatient =
            |name: &LogName| over || held.get(name).is_some_and(|(_, since)| since.elapsed() >= PATIENCE);
        let read = self.chosen.read_on(&mut cursor, BLOCK, impatient).await?;
        // From here on nothing waits: given up before, nothing has changed.
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

/// Each piece with the cursor after it; the last one first.
fn with_cursors(mut cursor: Cursor, told: Vec<Told>) -> Vec<(LogChunk, String)> {
    let after = |Told { chunk, name, next }| {
        cursor.offsets.insert(name, next);
        (chunk, cursor.encode())
    };
    let mut ready: Vec<(LogChunk, String)> = told.into_iter().map(after).collect();
    ready.reverse();
    ready
}
