//! Where the last lines of a log begin.

use cubeloom_domain::logs::before_last;

use super::chosen::unreadable;
use super::{Chosen, Cursor};
use crate::error::ApiResult;

/// How much of a log's end is read for its last lines, in bytes.
const MOST: u64 = 4 << 20;

impl Cursor {
    /// Before the last `lines` lines of each stream, or fewer when they are very long.
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
