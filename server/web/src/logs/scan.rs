//! Scans one log for matching lines, block by block.

use std::collections::VecDeque;
use std::sync::Arc;

use cubeloom_domain::Timestamp;
use cubeloom_domain::logs::{LogMark, LogPiece};
use tokio::time::Instant;

use super::Pattern;
use super::cut::LONGEST;
use super::visible::after_returns;

/// Maximum size of one read, in bytes.
pub(super) const BLOCK: usize = 1 << 20;
/// Maximum length of a returned line, in characters.
const SHOWN: usize = 2_000;

/// What to scan for, and the limits of one block.
pub(super) struct Wanted {
    pub pattern: Arc<Pattern>,
    /// Maximum number of lines.
    pub most: usize,
    pub until: Instant,
}

/// A matching line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub offset: u64,
    pub number: u64,
    /// Arrival time, if known.
    pub at: Option<Timestamp>,
    /// The latest known time up to this line. It never decreases from line to line.
    pub reached: Option<Timestamp>,
    pub text: String,
}

/// Position in a log.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Offset of the next line.
    pub offset: u64,
    /// Its number, starting at 1.
    pub number: u64,
    /// The latest known time of the lines before it.
    pub reached: Option<Timestamp>,
    /// Whether the last line has no end yet: it has the number of the next one.
    pub is_open: bool,
    /// Whether a limit was reached within a block.
    pub is_full: bool,
    /// What was read from the offset on.
    rest: Vec<u8>,
    marks: VecDeque<LogMark>,
}

impl Scan {
    pub(super) fn new(offset: u64, number: u64) -> Self {
        Self { offset, number, ..Self::default() }
    }

    /// Scans the next block. An empty one marks the end of the log. A line that is longer than a block is
    /// scanned in pieces.
    pub(super) fn block(&mut self, piece: LogPiece, wanted: &Wanted) -> Vec<Hit> {
        let last = piece.bytes.is_empty();
        self.marks.extend(piece.marks);
        let mut bytes = std::mem::take(&mut self.rest);
        bytes.extend_from_slice(&piece.bytes);
        let (mut hits, mut begin) = (Vec::new(), 0);
        while let Some(length) = line_length(&bytes[begin..], last) {
            if hits.len() >= wanted.most || Instant::now() >= wanted.until {
                self.is_full = true;
                return hits;
            }
            hits.extend(self.line(&bytes[begin..begin + length], &wanted.pattern));
            begin += length;
        }
        bytes.drain(..begin);
        self.rest = bytes;
        hits
    }

    /// Takes a line with its end.
    fn line(&mut self, bytes: &[u8], pattern: &Pattern) -> Option<Hit> {
        let text = bytes.strip_suffix(b"\n");
        self.is_open = text.is_none();
        let text = text.unwrap_or(bytes);
        let at = self.time();
        self.reached = self.reached.max(at);
        let hit = pattern.is_match(text).then(|| Hit {
            offset: self.offset,
            number: self.number,
            at,
            reached: self.reached,
            text: String::from_utf8_lossy(after_returns(text)).chars().take(SHOWN).collect(),
        });
        self.offset += bytes.len() as u64;
        self.number += u64::from(!self.is_open);
        hit
    }

    /// Arrival time of the byte at the offset.
    fn time(&mut self) -> Option<Timestamp> {
        while self.marks.front().is_some_and(|mark| mark.end <= self.offset) {
            self.marks.pop_front();
        }
        self.marks.front().map(|mark| mark.at)
    }
}

/// Length of the first line, including its end. The end of the log ends a line, too.
fn line_length(bytes: &[u8], last: bool) -> Option<usize> {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => Some(end + 1),
        None if bytes.is_empty() => None,
        None => (last || bytes.len() > BLOCK + LONGEST).then_some(bytes.len()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn piece(text: &str, marks: &[(u64, i64)]) -> LogPiece {
        let marks = marks.iter().map(|(end, at)| LogMark { end: *end, at: Timestamp(*at) }).collect();
        LogPiece { bytes: text.into(), marks, ..LogPiece::default() }
    }

    fn all(most: usize) -> Wanted {
        let pattern = Arc::new(Pattern::new("^", true, false).unwrap());
        Wanted { pattern, most, until: Instant::now() + Duration::from_secs(3600) }
    }

    #[test]
    fn lines_are_numbered_placed_and_dated_across_blocks() {
        let mut scan = Scan::new(0, 1);
        let mut hits = Vec::new();
        let blocks =
            [piece("one\ntw", &[(5, 1), (8, 2)]), piece("o\n\nfour", &[(8, 2), (9, 3)]), piece("", &[])];
        for block in blocks {
            hits.extend(scan.block(block, &all(9)));
        }
        let found: Vec<_> =
            hits.iter().map(|hit| (hit.offset, hit.number, hit.text.as_str(), hit.at, hit.reached)).collect();
        let at = |at: i64| Some(Timestamp(at));
        // `two` has the time of its first byte.
        let expected = [
            (0, 1, "one", at(1), at(1)),
            (4, 2, "two", at(1), at(1)),
            (8, 3, "", at(3), at(3)),
            (9, 4, "four", None, at(3)),
        ];
        assert_eq!(found, expected);
        assert_eq!((scan.offset, scan.number, scan.is_open, scan.is_full), (13, 4, true, false));
    }

    #[test]
    fn a_limit_ends_the_scan_before_the_next_line() {
        let mut scan = Scan::new(100, 7);
        let hits = scan.block(piece("one\ntwo\nthree\n", &[]), &all(2));
        assert_eq!(hits.iter().map(|hit| hit.number).collect::<Vec<_>>(), [7, 8]);
        assert_eq!((scan.offset, scan.number, scan.is_full), (108, 9, true));
    }
}
