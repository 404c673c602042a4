//! Finds positions in logs: of the last lines, of the end, and of a time.

use cubeloom_domain::Timestamp;
use cubeloom_domain::logs::{Log, before_last};

use super::chosen::unreadable;
use super::cut::{LONGEST, whole_characters};
use super::{Chosen, Cursor};
use crate::error::ApiResult;

/// Maximum bytes read from a log's end, to find its last lines.
const MOST: u64 = 4 << 20;
/// Maximum size of a character, in bytes.
const CHARACTER: usize = 4;

/// A time after all lines: the position is the end.
pub(super) const AFTER_ALL: Timestamp = Timestamp(i64::MAX);

impl Cursor {
    /// Position before the last `lines` lines of each stream. Fewer lines if they are very long.
    pub(crate) async fn before_last(chosen: &Chosen, lines: usize) -> ApiResult<Self> {
        let mut cursor = Self::start(chosen.key.n);
        let Some(logs) = chosen.reader() else { return Ok(cursor) };
        for log in chosen.list().await? {
            let begin = before_last(logs, &chosen.key, &log, lines, MOST).await.map_err(unreadable)?;
            cursor.offsets.insert(log.name, begin);
        }
        Ok(cursor)
    }

    /// The end of each stream, without an incomplete character.
    pub(crate) async fn end(chosen: &Chosen) -> ApiResult<Self> {
        let mut cursor = Self::start(chosen.key.n);
        for log in chosen.list().await? {
            let from = log.length.saturating_sub(CHARACTER as u64);
            let last = chosen.read(&log.name, from, CHARACTER).await?.bytes;
            cursor.offsets.insert(log.name, from + whole_characters(&last) as u64);
        }
        Ok(cursor)
    }

    /// The same position with an offset for each present stream.
    pub(crate) async fn placed(mut self, chosen: &Chosen) -> ApiResult<Self> {
        let Some(since) = self.since.take() else { return Ok(self) };
        for log in chosen.list().await? {
            if self.offsets.contains_key(&log.name) {
                continue;
            }
            let begin = first_line(chosen, &log, since).await?;
            self.offsets.insert(log.name, begin);
        }
        Ok(self)
    }

    /// Whether the logs have something before this position.
    pub(crate) async fn has_before(&self, chosen: &Chosen) -> ApiResult<bool> {
        Ok(chosen.list().await?.iter().any(|log| self.offset(&log.name) > 0))
    }
}

/// Offset of the first line of a time or later.
async fn first_line(chosen: &Chosen, log: &Log, since: Timestamp) -> ApiResult<u64> {
    if since == AFTER_ALL {
        return Ok(log.length);
    }
    let Some(logs) = chosen.reader() else { return Ok(0) };
    let part = logs.since(&chosen.key, &log.name, since).await.map_err(unreadable)?.min(log.length);
    let Some(before) = part.checked_sub(1) else { return Ok(0) };
    // A part may begin within a line. That line is older.
    let bytes = chosen.read(&log.name, before, LONGEST).await?.bytes;
    let end = bytes.iter().position(|byte| *byte == b'\n');
    Ok(end.map_or(part, |end| part + end as u64))
}
