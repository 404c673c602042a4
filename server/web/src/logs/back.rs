//! Reads backwards from a cursor: the latest lines of all streams before it, in the order of `source`.

use std::cmp::Reverse;
use std::collections::VecDeque;

use cubeloom_domain::Timestamp;
use cubeloom_domain::logs::LogName;

use super::source::{Part, Read, parts};
use super::{Chosen, Cursor};
use crate::error::ApiResult;

/// Minimum and maximum size of the first read of one stream, in bytes.
const LEAST: u64 = 4 << 10;
const USUAL: u64 = 256 << 10;
/// Longer lines are split, in bytes.
const LONGEST_LINE: u64 = 4 << 20;

struct Stream {
    name: LogName,
    /// Start of what was read.
    begin: u64,
    /// Lines that were read and not yet returned.
    parts: VecDeque<Part>,
    /// Bytes returned.
    returned: usize,
}

impl Chosen {
    /// Reads what is before a cursor, about `limit` bytes at most. Also returns the cursor of its beginning.
    pub(crate) async fn read_back(&self, end: &Cursor, limit: usize) -> ApiResult<(Read, Cursor)> {
        let mut streams = Vec::new();
        for log in self.list().await? {
            let begin = end.offset(&log.name).min(log.length);
            streams.push(Stream { name: log.name, begin, parts: VecDeque::new(), returned: 0 });
        }
        let share = (limit as u64 / streams.len().max(1) as u64).clamp(LEAST, USUAL);
        let (mut start, mut room) = (end.clone(), limit);
        // The last one first.
        let mut found: Vec<(LogName, Part)> = Vec::new();
        while room > 0 {
            for stream in streams.iter_mut().filter(|stream| stream.parts.is_empty() && stream.begin > 0) {
                self.fill_back(stream, share).await?;
            }
            let Some(last) = streams.iter_mut().max_by_key(|stream| stream.turn()) else { break };
            let Some(part) = last.parts.pop_back() else { break };
            last.returned += part.bytes.len();
            room = room.saturating_sub(part.bytes.len());
            start.offsets.insert(last.name.clone(), part.offset);
            found.push((last.name.clone(), part));
        }
        let mut read = Read::default();
        for (name, part) in found.iter().rev() {
            read.tell(name, part);
        }
        Ok((read, start))
    }

    /// Reads the chunk before those that were read. It begins with a line, unless that is very long.
    async fn fill_back(&self, stream: &mut Stream, share: u64) -> ApiResult<()> {
        let mut size = share;
        loop {
            let from = stream.begin.saturating_sub(size);
            let limit = usize::try_from(stream.begin - from).unwrap_or(usize::MAX);
            let piece = self.read(&stream.name, from, limit).await?;
            let skipped = match first_line(&piece.bytes) {
                _ if from == 0 => 0,
                Some(begin) => begin,
                None if size < LONGEST_LINE => {
                    size *= 4;
                    continue;
                }
                None => first_character(&piece.bytes),
            };
            stream.begin = if piece.bytes.is_empty() { 0 } else { from + skipped as u64 };
            stream.parts = parts(stream.begin, &piece.bytes[skipped..], &piece.marks);
            return Ok(());
        }
    }
}

impl Stream {
    /// Sort key of the stream whose last lines are the latest ones. Lines without a time come first, as in `source`.
    fn turn(&self) -> (bool, Option<Timestamp>, Reverse<usize>) {
        let part = self.parts.back();
        (part.is_some(), part.and_then(|part| part.at), Reverse(self.returned))
    }
}

/// Start of the first line that begins within these bytes. Their last byte may end a line.
fn first_line(bytes: &[u8]) -> Option<usize> {
    let body = &bytes[..bytes.len().saturating_sub(1)];
    body.iter().position(|byte| *byte == b'\n').map(|end| end + 1)
}

/// Start of the first character that begins within these bytes.
fn first_character(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| matches!(byte, 0x80..=0xBF)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_back_begins_with_a_line() {
        assert_eq!(first_line(b"rest\none\ntwo\n"), Some(5));
        assert_eq!(first_line(b"rest\n"), None);
        assert_eq!(first_line(b"\n\n"), Some(1));
        assert_eq!(first_line(b""), None);
        assert_eq!(first_character("中文".as_bytes()), 0);
        assert_eq!(first_character(&"中文".as_bytes()[1..]), 2);
    }
}
