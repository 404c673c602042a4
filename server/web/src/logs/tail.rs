//! Finds the start of a log's last lines.

use cubeloom_domain::logs::before_last;

use super::chosen::unreadable;
use super::{Chosen, Cursor};
use crate::error::ApiResult;

/// Maximum bytes read from a log's end, to find its last lines.
const MOST: u64 = 4 << 20;

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
}
