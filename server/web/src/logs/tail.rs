//! Where the last lines of a log begin.

use super::{Chosen, Cursor};
use crate::error::ApiResult;

/// How much of a log's end is looked at, in bytes.
const LOOK: u64 = 256 << 10;

impl Cursor {
    /// Before the last `lines` lines of each stream, or fewer when they are very long.
    pub(crate) async fn before_last(chosen: &Chosen, lines: usize) -> ApiResult<Self> {
        let mut cursor = Self::start(chosen.key.n);
        for log in chosen.list().await? {
            let from = log.length.saturating_sub(LOOK);
            let piece = chosen.read(&log.name, from, LOOK as usize).await?;
            let begin = last_lines(&piece.bytes, lines, from == 0);
            cursor.offsets.insert(log.name, from + begin as u64);
        }
        Ok(cursor)
    }
}

/// Where the last `count` lines of these bytes begin; `first` when they are the log from its beginning.
fn last_lines(bytes: &[u8], count: usize, first: bool) -> usize {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let ends = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    let starts: Vec<usize> = ends.take(count).map(|(at, _)| at + 1).collect();
    match (starts.last(), count) {
        (_, 0) => bytes.len(),
        (Some(start), _) if starts.len() == count => *start,
        // Fewer lines than asked for: all of them, but for one whose beginning is not here.
        (last, _) => {
            if first {
                0
            } else {
                last.copied().unwrap_or(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_begin_where_they_begin() {
        let text = b"one\ntwo\nthree\n";
        assert_eq!(last_lines(text, 1, true), 8);
        assert_eq!(last_lines(text, 2, true), 4);
        assert_eq!(last_lines(text, 3, true), 0);
        assert_eq!(last_lines(text, 9, true), 0);
        assert_eq!(last_lines(text, 9, false), 4);
        assert_eq!(last_lines(b"one\ntw", 1, true), 4);
        assert_eq!(last_lines(text, 0, true), text.len());
        assert_eq!(last_lines(b"", 5, true), 0);
    }
}
