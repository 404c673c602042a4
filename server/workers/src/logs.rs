//! Reads a worker's logs: append-only plain files, so a reader only needs an offset.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::time::UNIX_EPOCH;

use cubeloom_domain::Timestamp;

use crate::place::Place;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub bytes: Vec<u8>,
    /// Offset of the next piece.
    pub next: u64,
}

/// At most `limit` bytes from `offset`; empty at the end. To follow a log, call again with `next`. A file
/// that does not exist yet is empty.
pub fn range(path: impl Into<Place>, offset: u64, limit: usize) -> io::Result<Piece> {
    let Some(file) = open(&path.into())? else { return Ok(Piece { bytes: Vec::new(), next: offset }) };
    let mut bytes = vec![0; limit];
    let mut filled = 0;
    while filled < limit {
        match file.read_at(&mut bytes[filled..], offset + filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    bytes.truncate(filled);
    Ok(Piece { next: offset + bytes.len() as u64, bytes })
}

/// The log's length in bytes. A file that does not exist yet is empty.
pub fn len(path: impl Into<Place>) -> io::Result<u64> {
    open(&path.into())?.map_or(Ok(0), |file| file.metadata().map(|found| found.len()))
}

/// Time of the last write. `None` if the file does not exist yet.
pub fn changed(path: impl Into<Place>) -> io::Result<Option<Timestamp>> {
    let Some(file) = open(&path.into())? else { return Ok(None) };
    let since = file.metadata()?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Some(Timestamp::default().plus(since)))
}

/// How much of a log's end is searched for its last lines, in bytes.
const TAIL: u64 = 64 << 10;
/// Longer lines are truncated, in characters.
const LONGEST_LINE: usize = 500;

/// The last `count` lines, or fewer if they are very long. A file that does not exist yet is empty.
pub fn tail(path: impl Into<Place>, count: usize) -> io::Result<Vec<String>> {
    let Some(mut file) = open(&path.into())? else { return Ok(Vec::new()) };
    let length = file.metadata()?.len();
    let from = length.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The first line is incomplete if the file is longer.
    let whole = if from > 0 { text.split_once('\n').map_or(&*text, |(_, rest)| rest) } else { &text };
    let lines: Vec<&str> = whole.lines().collect();
    let last = &lines[lines.len().saturating_sub(count)..];
    Ok(last.iter().map(|line| line.chars().take(LONGEST_LINE).collect()).collect())
}

fn open(place: &Place) -> io::Result<Option<File>> {
    match place.open() {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_followed_by_its_offset() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdout");
        assert_eq!(range(&path, 0, 10).unwrap().bytes, b"");
        std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
        let piece = range(&path, 0, 5).unwrap();
        assert_eq!((piece.bytes.as_slice(), piece.next), (b"one\nt".as_slice(), 5));
        assert_eq!(range(&path, piece.next, 100).unwrap().bytes, b"wo\nthree\n");
        assert_eq!(tail(&path, 2).unwrap(), ["two", "three"]);
        assert_eq!(len(&path).unwrap(), 14);
    }

    #[test]
    fn the_last_lines_of_a_long_log_are_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stderr");
        let text: String = (0..50_000).map(|n| format!("line {n}\n")).collect();
        std::fs::write(&path, text).unwrap();
        assert_eq!(tail(&path, 2).unwrap(), ["line 49998", "line 49999"]);
    }
}
